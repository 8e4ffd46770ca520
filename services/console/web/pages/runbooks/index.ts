export { GalleryPage } from './gallery-page.js';
export { RunbookPage } from './runbook-page.js';
