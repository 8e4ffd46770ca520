export { RunPage } from './run-page.js';
