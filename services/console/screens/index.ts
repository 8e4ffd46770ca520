/** Screens of devices as they are now: who may look gets what their VNC servers send, and who has taken one over acts on it. */
export { ScreenDesk } from './screen-desk.adapter.js';
export { isScreenPath, openScreens, ScreenSockets } from './screen-sockets.adapter.js';
export { Screens, ScreensController } from './screens.controller.js';
export { readScreens, type ScreenServer } from './screens.config.js';
