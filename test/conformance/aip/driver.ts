import type { ClientRole, DeviceAnswer, DeviceRequest, OutputChunk } from '#proto';

/** Port: makes the server send COMMANDs, and hears what becomes of them. Which way, only the system behind the server knows. */
export interface Driver {
  /** One request as the system makes it, and its one answer; whoever wants the outcome of `running` asks again. */
  ask(request: DeviceRequest): Promise<DeviceAnswer>;
  /** The session under which the device is known to the system now; null: under none. */
  sessionOf(deviceId: string): Promise<string | null>;
  /** Resolves when the server has been handed everything that was asked so far. */
  settled(): Promise<void>;
  /** Pieces of live output of the command from now on. */
  output(commandId: string): Promise<OutputWatch>;
  close(): Promise<void>;
}

export interface OutputWatch {
  readonly pieces: readonly OutputChunk[];
  /** Resolves when so many have come. */
  until(count: number): Promise<void>;
  stop(): void;
}

/** Port: gives the right to connect, and takes it away. */
export interface Revoker {
  /** Somebody new, who is used for one check. */
  newAccount(role: ClientRole): Promise<{ readonly id: string; readonly token: string }>;
  revoke(id: string): Promise<void>;
  /** A credential of this device that expires then. */
  credentialOf(deviceId: string, expiresAtMs: number): Promise<string>;
}
