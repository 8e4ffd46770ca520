import type { Json, RunId } from '#proto';
import { countedFrames, layered, logged, unreadableTaskOf, type StepOf } from '../frames/index.js';
import type { ClientTask, ClientTaskEnd } from './client-task.js';
import { constellationStep } from './constellation-session.js';
import {
  openConstellationSession,
  type ConstellationEffect,
  type ConstellationIdentity,
  type ConstellationInput,
  type ConstellationSession,
  type TargetState,
} from './constellation-state.js';
import {
  ServerEndpoint,
  type ServerEndpointOptions,
  type EndpointPort,
  type EndpointWatch,
  type SharedEffect,
} from './server-endpoint.js';

/** Port: what tasks become, and where devices are known. Questions are answered with the endpoint's methods, at once or later. */
export interface ConstellationPort extends EndpointPort {
  /** Say with `target` whether this device is connected. `sessionId`: of the task that needs it; null: REGISTER does. */
  lookUp(deviceId: string, sessionId: string | null): void;
  /** Make a run of the task, then say `accepted` or `refused`. `label`: what the client calls itself. */
  submit(task: ClientTask, label: string | null): void;
  /** Say `ended` when this run has. */
  follow(sessionId: string, runId: RunId): void;
  /** Nobody waits for this task any more: its run, if there is one, is to be cancelled. */
  cancel(sessionId: string): void;
  /** Say with `deviceInfo` what is known of this device. */
  deviceInfo(deviceId: string, requestId: string | null): void;
}

/** The server's end of one constellation client's connection. */
export class ConstellationServerEndpoint extends ServerEndpoint<
  ConstellationSession,
  ConstellationInput,
  Exclude<ConstellationEffect, SharedEffect>,
  ConstellationPort
> {
  constructor(options: ServerEndpointOptions<ConstellationIdentity, ConstellationPort, EndpointWatch>) {
    super(options, openConstellationSession(options.identity, options.clock.now()), protocolOf(options.watch));
  }

  /** Answers `lookUp`, with its session id. */
  target(sessionId: string | null, state: TargetState): void {
    this.input({ kind: 'target', sessionId, state });
  }

  /** Answers `submit`: the task is a run now, and stays one. */
  accepted(sessionId: string, runId: RunId): void {
    this.input({ kind: 'accepted', sessionId, runId });
  }

  /** Answers `submit`: it is no run and will be none. `error`: one sentence for the client. */
  refused(sessionId: string, error: string): void {
    this.input({ kind: 'refused', sessionId, error });
  }

  /** Answers `follow`. */
  ended(sessionId: string, end: ClientTaskEnd): void {
    this.input({ kind: 'ended', sessionId, ...end });
  }

  /** Answers `deviceInfo`, with its request id; null when there is no such device. */
  deviceInfo(deviceId: string, requestId: string | null, info: Json): void {
    this.input({ kind: 'device-info', deviceId, requestId, info });
  }

  protected override taskOf(text: string | null): string | null {
    return unreadableTaskOf(text);
  }

  protected override perform(effect: Exclude<ConstellationEffect, SharedEffect>): void {
    const { port } = this;
    switch (effect.kind) {
      case 'lookUp':
        return port.lookUp(effect.deviceId, effect.sessionId);
      case 'submit':
        return port.submit(effect.task, effect.label);
      case 'follow':
        return port.follow(effect.sessionId, effect.runId);
      case 'cancel':
        return port.cancel(effect.sessionId);
      case 'deviceInfo':
        return port.deviceInfo(effect.deviceId, effect.requestId);
    }
  }
}

/** Outermost first: what is logged and counted is what really goes over the wire. */
const protocolOf = (watch: EndpointWatch): StepOf<ConstellationSession, ConstellationInput, ConstellationEffect> =>
  layered<ConstellationSession, ConstellationInput, ConstellationEffect>(
    constellationStep,
    logged((event) => watch.log(event)),
    countedFrames((direction, type) => watch.count(direction, type)),
  );
