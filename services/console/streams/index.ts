/** What happens in a run, and what its tasks write: as Server-Sent Events while it goes on, and as it is recorded. */
export * from './output.controller.js';
export * from './recorded-output.gateway.js';
export * from './run-events.gateway.js';
export * from './run-output.gateway.js';
export { storedBoard, storedConversation } from './stored-run.adapter.js';
export * from './artifacts.controller.js';
export * from './records.controller.js';
export * from './run-records.gateway.js';
