/** Who reads here, comes in or is refused is recorded, before anything is shown. What is a reading stands in one table; the list itself is asked of the registry. */
export { AccessController } from './access.controller.js';
export { AccessList } from './access-list.client.js';
export { AccessGuard } from './access.guard.js';
export { AccessDesk, peerOf, type AccessReading } from './access-desk.adapter.js';
