/**
 * Two agents that work on a screen: one looks at the desktop and chooses, one looks at a window and acts. What they do in the
 * phases of a round, and nothing of how they are put together.
 */
export * from './app-action.js';
export * from './host-action.js';
export * from './look.js';
export * from './phone-screen.js';
export * from './screen.js';
export * from './screen-tools.js';
