export { TaskDrawer } from './task-drawer.js';
