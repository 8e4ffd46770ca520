/** The one way to the console service. */
export * from './api.client.js';
export * from './asked.js';
export * from './live.client.js';
export * from './viewer.js';
export * from './now.adapter.js';
export * from './run-topics.js';
export { useRows, useStore, type Freshness, type Listed } from './topics.js';
export * from './screens.js';
