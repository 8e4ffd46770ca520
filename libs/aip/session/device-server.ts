import type { Identity, ServerMessage } from '#proto';
import { authorised, countedFrames, layered, logged, numberedFrames, Sequence, type StepOf } from '../frames/index.js';
import {
  ServerEndpoint,
  type ServerEndpointOptions,
  type EndpointPort,
  type EndpointWatch,
  type PortOf,
  type SharedEffect,
} from './server-endpoint.js';
import {
  isNumbered,
  openSession,
  senderOf,
  takesBytes,
  type FileMessage,
  type Session,
  type SessionEffect,
  type SessionInput,
} from './session-state.js';
import { step } from './session.js';

/** Port: where the files of this device go to and come from. */
export interface FilePort {
  /** Only from a device that is ready and numbers its frames; everything else about it is still to be judged. */
  frame(message: FileMessage): void;
  /** Once: nothing is sent or received any more. */
  closed(): void;
}

type OwnEffect = Exclude<SessionEffect, SharedEffect>;

/** Port: what stands behind a device's connection. Questions are answered with the endpoint's `input`, at once or later. */
export interface DevicePort extends EndpointPort, PortOf<Exclude<OwnEffect, { kind: 'file' }>> {
  /** Undefined: files are not spoken of here. */
  readonly files?: FilePort | undefined;
}

/** Port: who watches what goes over the connection. */
export interface DeviceWatch extends EndpointWatch {
  latency(ms: number): void;
}

/** The server's end of one device connection. */
export class DeviceServerEndpoint extends ServerEndpoint<Session, SessionInput, OwnEffect, DevicePort> {
  constructor(options: ServerEndpointOptions<Identity, DevicePort, DeviceWatch>) {
    super(options, openSession(options.identity, options.clock.now()), protocolOf(options.watch));
  }

  /** Sends a frame to a device that is ready. `lost` is called when no byte of it was handed to the socket, and none will be. */
  say(message: ServerMessage, lost?: () => void): void {
    this.input({ kind: 'say', message }, { lost });
  }

  protected override takesBytes(session: Session): boolean {
    return takesBytes(session);
  }

  protected override leave(): void {
    this.port.files?.closed();
    super.leave();
  }

  protected override perform(effect: OwnEffect, bytes: number): void {
    if (effect.kind !== 'file') super.perform(effect, bytes);
    else if (this.port.files === undefined) this.#refuseFile(effect.message);
    else this.port.files.frame(effect.message);
  }

  #refuseFile({ type, orrery }: FileMessage): void {
    if (type === 'file_abort') return;
    const why = { code: 'NO_FILES', message: 'this server takes and gives no files' };
    this.say({ type: 'file_abort', status: 'error', orrery: { transfer_id: orrery.transfer_id, ...why } });
  }
}

/** Outermost first: what is logged and counted is what really goes over the wire. */
function protocolOf(watch: DeviceWatch): StepOf<Session, SessionInput, SessionEffect> {
  return layered<Session, SessionInput, SessionEffect>(
    step,
    logged((event) => watch.log(event)),
    countedFrames((direction, type) => watch.count(direction, type)),
    numberedFrames({ sequence: new Sequence(), isNumbered, latency: (ms) => watch.latency(ms) }),
    authorised(senderOf),
  );
}
