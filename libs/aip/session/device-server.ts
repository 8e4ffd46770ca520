import type {
  ClientTelemetry,
  CommandId,
  CommandOutcome,
  DeviceMetrics,
  Identity,
  ServerMessage,
  SessionId,
} from '#proto';
import { authorised, countedFrames, layered, logged, numberedFrames, Sequence, type StepOf } from '../frames/index.js';
import {
  ServerEndpoint,
  type ServerEndpointOptions,
  type EndpointPort,
  type EndpointWatch,
  type SharedEffect,
} from './server-endpoint.js';
import {
  isNumbered,
  openSession,
  senderOf,
  type FileMessage,
  type OutputPiece,
  type Session,
  type SessionEffect,
  type SessionInput,
} from './session-state.js';
import { step } from './session.js';
import type { RegisteredClient } from './telemetry.js';

/** Port: where the files of this device go to and come from. */
export interface FilePort {
  /** Only from a device that is ready and numbers its frames; everything else about it is still to be judged. */
  frame(message: FileMessage): void;
  /** Once: nothing is sent or received any more. */
  closed(): void;
}

/** Port: what stands behind a device's connection. Questions are answered with the endpoint's methods, at once or later. */
export interface DevicePort extends EndpointPort {
  /** Make this the device's session everywhere, then say `claimed` or `claimFailed`. */
  claim(client: RegisteredClient): void;
  /** What the device's journal holds, in several calls perhaps, before `open`. */
  resume(running: readonly CommandId[], finished: readonly CommandId[]): void;
  /** The session is complete: commands may be sent from now on. */
  open(): void;
  started(commandId: CommandId): void;
  /** `bytes`: size of the frame that it came in. */
  result(commandId: CommandId, outcome: CommandOutcome, bytes: number): void;
  /** Of any command id that the device says: whether it runs here is to be judged. */
  output(commandId: CommandId, piece: OutputPiece): void;
  metrics(metrics: DeviceMetrics): void;
  telemetry(telemetry: ClientTelemetry): void;
  /** Find out whose credential this is, then say `identified`. */
  identify(credential: string): void;
  /** Undefined: files are not spoken of here. */
  readonly files?: FilePort | undefined;
}

/** Port: who watches what goes over the connection. */
export interface DeviceWatch extends EndpointWatch {
  latency(ms: number): void;
}

/** The server's end of one device connection. */
export class DeviceServerEndpoint extends ServerEndpoint<
  Session,
  SessionInput,
  Exclude<SessionEffect, SharedEffect>,
  DevicePort
> {
  constructor(options: ServerEndpointOptions<Identity, DevicePort, DeviceWatch>) {
    super(options, openSession(options.identity, options.clock.now()), protocolOf(options.watch));
  }

  /** The session is the device's: it is told so. */
  claimed(sessionId: SessionId): void {
    this.input({ kind: 'claimed', sessionId });
  }

  claimFailed(): void {
    this.input({ kind: 'claim-failed' });
  }

  /** Answers `identify`; null with the reason when the credential counts for nothing. */
  identified(identity: Identity | null, error = 'the credential is not valid'): void {
    this.input({ kind: 'identified', identity, error });
  }

  /** Sends a frame to a device that is ready. `lost` is called when no byte of it was handed to the socket, and none will be. */
  say(message: ServerMessage, lost?: () => void): void {
    this.input({ kind: 'say', message }, { lost });
  }

  /** Asks a foreign client for its tools again if it is time for that; `wanted`: somebody asked for one that it has not named. */
  askTools(wanted: boolean): void {
    this.input({ kind: 'ask-tools', wanted });
  }

  /** A newer connection of the device has the session. */
  replaced(): void {
    this.input({ kind: 'replaced' });
  }

  protected override leave(): void {
    this.port.files?.closed();
    super.leave();
  }

  protected override perform(effect: Exclude<SessionEffect, SharedEffect>, bytes: number): void {
    const { port } = this;
    switch (effect.kind) {
      case 'claim':
        return port.claim(effect.client);
      case 'resume':
        return port.resume(effect.running, effect.finished);
      case 'open':
        return port.open();
      case 'started':
        return port.started(effect.commandId);
      case 'result':
        return port.result(effect.commandId, effect.outcome, bytes);
      case 'output':
        return port.output(effect.commandId, effect.piece);
      case 'metrics':
        return port.metrics(effect.metrics);
      case 'telemetry':
        return port.telemetry(effect.telemetry);
      case 'file':
        return port.files === undefined ? this.#refuseFile(effect.message) : port.files.frame(effect.message);
      case 'identify':
        return port.identify(effect.credential);
    }
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
