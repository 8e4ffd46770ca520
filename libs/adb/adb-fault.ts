/**
 * What went wrong on the way to a device. With `LOST`, `TIMED_OUT` and `ABORTED` a command may have run, or may still run; with all
 * others it has certainly not begun.
 */
export type AdbFaultCode =
  /** There is no adb server at the address, or what is there speaks something else. */
  | 'NO_SERVER'
  /** The server does not reach the device: not there, offline, not authorised, too old. */
  | 'NO_DEVICE'
  /** Nothing that could be said to a device. */
  | 'ARGUMENT'
  | 'LOST'
  | 'TIMED_OUT'
  | 'ABORTED'
  /** The command wrote more than it was allowed to. */
  | 'TOO_MUCH';

export class AdbFault extends Error {
  constructor(
    readonly code: AdbFaultCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
