import type { FilePort, OpenAtDevice } from '#libs/aip';
import type { CommandId, DeviceId, ServerMessage } from '#proto';

/** What a desk for files gets to know of the device's connection. */
export interface FileContext {
  readonly deviceId: DeviceId;
  /** Sends a frame to the device, if it is still there. */
  say(message: ServerMessage): void;
  /** The device takes its frames more slowly than they are sent. */
  readonly congested: boolean;
  /** A command that runs at the device in this session; undefined for every other id. */
  openCommand(commandId: CommandId): OpenAtDevice | undefined;
}

/** A FilePort that wants to be told of time and of room. */
export interface TimedFileDesk extends FilePort {
  /** A few times a second. */
  tick?(nowMs: number): void;
  /** What made the connection congested has been taken by the device. */
  drained?(): void;
}
