export { RunsPage } from './runs-page.js';
