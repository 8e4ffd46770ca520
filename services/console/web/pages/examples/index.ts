export { ExamplesPage } from './examples-page.js';
