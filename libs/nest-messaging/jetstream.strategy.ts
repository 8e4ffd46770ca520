import { EventPattern, Server } from '@nestjs/microservices';
import type { CustomTransportStrategy, MessageHandler } from '@nestjs/microservices';
import type { NatsConnection } from '@nats-io/transport-node';
import { isObservable, lastValueFrom } from 'rxjs';
import type { DurableSpec } from '#proto';
import { consumeDurable, retryAfterFailure } from '#libs/messaging';
import type { BusMessage, Consumption, ConsumeOptions, Outcome } from '#libs/messaging';

const JETSTREAM = Symbol.for('orrery.jetstream');

type HandlerOptions = Pick<ConsumeOptions, 'concurrency' | 'maxPull'>;
type DurableHandler = (message: BusMessage) => Promise<Outcome>;

/** Marks a method of a controller as the handler of a durable: it takes a BusMessage and says what happened to it. */
export function OnDurable(durable: DurableSpec, options: HandlerOptions = {}) {
  // Typed, so that a method that returns no Outcome does not compile.
  return (target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<DurableHandler>): void =>
    void EventPattern<string>(durable.durable, JETSTREAM, { durable, options })(target, key, descriptor);
}

interface Extras {
  readonly durable: DurableSpec;
  readonly options: HandlerOptions;
}

/** Nest transport for durable handlers: `app.connectMicroservice({ strategy: new JetStreamStrategy(nc, { service }) })`. */
export class JetStreamStrategy extends Server implements CustomTransportStrategy {
  override readonly transportId = JETSTREAM;
  private readonly nc: NatsConnection;
  private readonly options: ConsumeOptions;
  private consumptions: Consumption[] = [];

  /** The connection is the service's; it is not closed here. */
  constructor(nc: NatsConnection, options: ConsumeOptions) {
    super();
    this.nc = nc;
    this.options = options;
  }

  listen(callback: (error?: unknown) => void): void {
    const bound = [...this.messageHandlers.values()].flatMap((handler) => chain(handler));
    this.consumptions = bound.map((handler) => {
      const { durable, options } = extrasOf(handler);
      return consumeDurable(this.nc, durable, (message) => outcomeOf(handler, message), {
        ...this.options,
        ...options,
      });
    });
    callback();
  }

  /** Stops the intake of all durables at once, then waits for what is in work. Safe to call twice. */
  async close(): Promise<void> {
    await Promise.all(this.consumptions.map((consumption) => consumption.stop()));
  }

  override on(): never {
    throw new TypeError('JetStreamStrategy has no events.');
  }

  override unwrap(): never {
    throw new TypeError('JetStreamStrategy shows no connection: the service has it.');
  }
}

/** Handlers of one pattern hang together as a list. */
function chain(handler: MessageHandler): MessageHandler[] {
  const { next } = handler;
  return next === undefined ? [handler] : [handler, ...chain(next as MessageHandler)];
}

function extrasOf(handler: MessageHandler): Extras {
  const extras = handler.extras as Partial<Extras> | undefined;
  if (extras?.durable === undefined)
    throw new TypeError('Only @OnDurable handlers can be served by JetStreamStrategy.');
  return { durable: extras.durable, options: extras.options ?? {} };
}

/** Nest wraps what a handler returns, and what it throws, into observables. */
async function outcomeOf(handler: MessageHandler, message: BusMessage): Promise<Outcome> {
  const returned: unknown = await handler(message);
  const value: unknown = isObservable(returned) ? await lastValueFrom(returned, { defaultValue: undefined }) : returned;
  if (isOutcome(value)) return value;
  return retryAfterFailure(new TypeError('the handler returned no outcome'), message.deliveries);
}

function isOutcome(value: unknown): value is Outcome {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  return value.kind === 'done' || value.kind === 'retry' || value.kind === 'poison';
}
