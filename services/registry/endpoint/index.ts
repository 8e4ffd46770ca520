export { serveRegistry } from './queries.controller.js';
