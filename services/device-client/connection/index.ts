/** Puts the parts together and keeps them connected, from joining to the last message before the end. */
export { joinServer } from './join.runner.js';
