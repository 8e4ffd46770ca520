import type { Identity } from '#proto';

/** One client's open socket, whatever its role: what the server that accepted it has to know of it. */
export interface Connection {
  readonly identity: Identity;
  /** It has said who it is and was believed: no silent socket any more. */
  readonly isRegistered: boolean;
  /** A few times a second; also closes a connection whose credential has expired (4002). */
  tick(nowMs: number): void;
  /** The credentials of the identity count no more (4001). */
  revoke(): void;
  /** A command is at the device, so it may have much to say. */
  readonly waitsForResult?: boolean;
  /** A message of so many bytes was announced, and the connection ends for it (1009). */
  refusedFrame?(bytes: number): void;
  /** The gateway stops (1001). */
  shutDown(): void;
  /** Of a device: its key in PRESENCE may have changed, at this revision of the bucket. */
  look?(revision?: number): void;
  /** Resolves when the socket is closed and everything that hung on it is given back. */
  gone(): Promise<void>;
}
