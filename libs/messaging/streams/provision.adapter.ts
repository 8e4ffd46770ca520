import { JetStreamApiCodes, JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import type { ConsumerInfo, JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { allDurables, type DurableSpec } from '#proto';
import {
  allStreamSettings,
  consumerSetting,
  driftOf,
  driftText,
  durableDrift,
  type Drift,
  type StreamSetting,
} from './stream-config.js';
import { managerOf } from './stored-page.adapter.js';

const CONSUMERS_AT_ONCE = 8;

/** A stream or durable differs from what it has to be, and the server does not let us change it. */
export class ProvisionError extends Error {
  override readonly name = 'ProvisionError';
  readonly drift: readonly Drift[];
  constructor(what: string, drift: readonly Drift[], options?: ErrorOptions) {
    const differences = drift.length === 0 ? [] : [driftText(drift)];
    if (options?.cause instanceof Error) differences.push(`the server says: ${options.cause.message}`);
    super(`${what} cannot be made as it has to be (${differences.join('; ')}).`, options);
    this.drift = drift;
  }
}

export interface Provisioned {
  readonly created: readonly string[];
  readonly updated: readonly string[];
}

/** Makes what is missing and mends what differs, as often as you like; throws ProvisionError for what cannot be mended. */
export async function provision(nc: NatsConnection): Promise<Provisioned> {
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  const created: string[] = [];
  const updated: string[] = [];
  const note = (what: string, change: Change) => {
    if (change === 'created') created.push(what);
    if (change === 'updated') updated.push(what);
  };
  for (const setting of allStreamSettings()) note(setting.name, await provisionStream(jsm, setting));
  const waiting = allDurables();
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      note(`${next.stream}/${next.durable}`, await provisionConsumer(jsm, next));
    }
  };
  await Promise.all(Array.from({ length: CONSUMERS_AT_ONCE }, work));
  return { created, updated };
}

type Change = 'created' | 'updated' | 'unchanged';

async function provisionStream(jsm: JetStreamManager, setting: StreamSetting): Promise<Change> {
  const what = `The stream ${setting.name}`;
  const driftIn = (config: object): Drift[] => driftOf(setting, config);
  const found = await present(() => jsm.streams.info(setting.name), JetStreamApiCodes.StreamNotFound);
  if (found === undefined) {
    await attempt(what, [], () => jsm.streams.add(setting), driftIn);
    return 'created';
  }
  const drift = driftIn(found.config);
  if (drift.length === 0) return 'unchanged';
  await attempt(what, drift, () => jsm.streams.update(setting.name, setting), driftIn);
  return 'updated';
}

/** One durable, as it has to be. Throws ProvisionError as `provision` does. */
export async function provisionDurable(nc: NatsConnection, spec: DurableSpec): Promise<Change> {
  return provisionConsumer(await managerOf(nc), spec);
}

async function provisionConsumer(jsm: JetStreamManager, spec: DurableSpec): Promise<Change> {
  const { stream, durable } = spec;
  const what = `The durable ${durable} of ${stream}`;
  const setting = consumerSetting(spec);
  const driftIn = (config: object): Drift[] => durableDrift(spec, config);
  const found = await present(() => jsm.consumers.info(stream, durable), JetStreamApiCodes.ConsumerNotFound);
  if (found === undefined) {
    await attempt(what, [], () => jsm.consumers.add(stream, setting), driftIn);
    return 'created';
  }
  const drift = driftIn(found.config);
  if (drift.length === 0) return 'unchanged';
  if (drift.some(({ field }) => field === 'pause_until')) await jsm.consumers.resume(stream, durable);
  // The client keeps what a change does not name.
  const cleared = Object.fromEntries(drift.map(({ field }) => [field, undefined]));
  await attempt(what, drift, () => jsm.consumers.update(stream, durable, { ...cleared, ...setting }), driftIn);
  return 'updated';
}

async function present<T>(read: () => Promise<T>, absent: number): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === absent) return undefined;
    throw error;
  }
}

/** An old server drops what it does not know without a word, so the answer is compared, too. */
async function attempt(
  what: string,
  drift: readonly Drift[],
  change: () => Promise<StreamInfo | ConsumerInfo>,
  driftIn: (config: object) => readonly Drift[],
): Promise<void> {
  let answered;
  try {
    answered = await change();
  } catch (cause) {
    throw new ProvisionError(what, drift, { cause });
  }
  const left = driftIn(answered.config);
  if (left.length > 0) throw new ProvisionError(what, left);
}
