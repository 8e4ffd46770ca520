export { RequestPage } from './request-page.js';
