/**
 * Android devices through an adb server that runs already, by its own protocol: no program is started for a command, every word of a
 * command is quoted for the shell on the device, and the device is always named.
 */
export * from './adb-device.client.js';
export * from './adb-fault.js';
export type { AdbAddress } from './adb-connection.client.js';
export type { ShellResult } from './shell-packets.js';
