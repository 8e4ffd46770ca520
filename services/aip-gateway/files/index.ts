/**
 * Bytes that are too many for a message: files of devices, texts of frames above 8 MiB, and what an upload left behind when its
 * gateway died. Where artifacts lie is the business of libs/messaging.
 */
export * from './artifact-sweep.runner.js';
export * from './file-context.js';
export * from './file-desk.adapter.js';
export { LargeFrameDesk } from './large-frames.adapter.js';
