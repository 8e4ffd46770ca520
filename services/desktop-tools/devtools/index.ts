/** Pages of a browser, asked over the pipe that its launcher holds, and nobody else. */
export * from './ax-page.js';
export * from './browsers.runner.js';
export * from './download.adapter.js';
export { clearLeftDownloads } from './left-downloads.adapter.js';
export * from './page-in-window.js';
export * from './page.client.js';
