/** A desktop of its own: display, bus and window manager, and what shows it to those who look on. */
export * from './screen.runner.js';
