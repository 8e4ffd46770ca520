export { serveLogging } from './queries.controller.js';
