/** Devices, and clients of other systems: list, enrol, hold, release, revoke. */
export * from './devices.command.js';
