/** A display of X11: its windows, what they show, mouse and keys. What may be done with them is decided elsewhere. */
export * from './keyboard.adapter.js';
export * from './mouse.adapter.js';
export * from './x-display.adapter.js';
export * from './x-windows.adapter.js';
