/** The embedded system as a person starts, stops and looks at it. How it is made is in the room `system`. */
export * from './system.command.js';
