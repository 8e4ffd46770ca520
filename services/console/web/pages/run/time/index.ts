/** The time of a run: any moment of it, when tasks ran, and every event. */
export { History } from './history.js';
export { TimeBar } from './time-bar.js';
export { Timeline } from './timeline.js';
