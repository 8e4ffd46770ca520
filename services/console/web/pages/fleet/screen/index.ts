/** The screen of a device, live. */
export { Stage } from './stage.js';
export { handsOn, type ViewStanding } from './standing.js';
