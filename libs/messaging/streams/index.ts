/**
 * What has to be there before anybody begins: streams, durables, buckets and their limits; and the timers that are stored in one
 * of them.
 */
export { ProvisionError, provision, type Provisioned } from './provision.adapter.js';
export { DeviceTimers, RunTimers, TimerBody, TimerConflictError } from './timers.adapter.js';
