/**
 * Devices, and clients of other systems: list, enrol, hold, release, revoke.
 */
export { defineClients, defineDevices } from './devices.command.js';
