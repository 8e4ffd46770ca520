/**
 * One frame: read, checked, numbered, counted, permitted. Nothing here remembers a session.
 */
export { Complaints } from './complaints.js';
export { decodeClientMessage, decodeServerMessage } from './decode.js';
export { authorised, countedFrames, logged, numberedFrames, layered } from './middleware.js';
export type { ProtocolEvent, StepOf } from './middleware.js';
export type { FrameSender } from './permissions.js';
export { fullFrameRate, takeFrame } from './rate.js';
export type { Rate } from './rate.js';
export { Sequence } from './sequence.js';
export { unreadableTaskOf } from './unreadable-task.js';
