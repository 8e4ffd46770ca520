import { countedFrames, layered, logged, unreadableTaskOf, type StepOf } from '../frames/index.js';
import { constellationStep } from './constellation-session.js';
import {
  openConstellationSession,
  type ConstellationEffect,
  type ConstellationIdentity,
  type ConstellationInput,
  type ConstellationSession,
} from './constellation-state.js';
import {
  ServerEndpoint,
  type ServerEndpointOptions,
  type EndpointPort,
  type EndpointWatch,
  type PortOf,
  type SharedEffect,
} from './server-endpoint.js';

type OwnEffect = Exclude<ConstellationEffect, SharedEffect>;

/** Port: what tasks become, and where devices are known. Questions are answered with the endpoint's `input`, at once or later. */
export type ConstellationPort = EndpointPort & PortOf<OwnEffect>;

/** The server's end of one constellation client's connection. */
export class ConstellationServerEndpoint extends ServerEndpoint<
  ConstellationSession,
  ConstellationInput,
  OwnEffect,
  ConstellationPort
> {
  constructor(options: ServerEndpointOptions<ConstellationIdentity, ConstellationPort, EndpointWatch>) {
    super(options, openConstellationSession(options.identity, options.clock.now()), protocolOf(options.watch));
  }

  protected override taskOf(text: string | null): string | null {
    return unreadableTaskOf(text);
  }
}

/** Outermost first: what is logged and counted is what really goes over the wire. */
const protocolOf = (watch: EndpointWatch): StepOf<ConstellationSession, ConstellationInput, ConstellationEffect> =>
  layered<ConstellationSession, ConstellationInput, ConstellationEffect>(
    constellationStep,
    logged((event) => watch.log(event)),
    countedFrames((direction, type) => watch.count(direction, type)),
  );
