import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager, type ConsumerInfo, type JetStreamManager, type StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { PROOF_MS_MAX } from '#libs/keys';
import { allStreamSettings, checkServer, driftOf, durableDrift, provision } from '#libs/messaging';
import { allDurables, isFeedDurable, STREAMS } from '#proto';
import { storeOf, type Store } from '../../home/index.js';
import { messageOf } from '../../terminal/index.js';
import { bad, ok, warn, type Diagnosis } from './finding.js';
import {
  judgeClock,
  judgeDeclared,
  judgeUndeclared,
  judgeMoving,
  judgeStores,
  type DeclaredThing,
  type DurableLook,
} from './judge-bus.js';

/** Between two looks at what moves. */
const BETWEEN_LOOKS_MS = 1_000;

export interface BusChecks {
  /** The server's HTTP monitoring: only there it says whether it fsyncs. */
  readonly monitorUrl: string | undefined;
  readonly repair: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Everything that can be seen of the bus with the administrator's key. */
export async function checkBus(
  nc: NatsConnection,
  { monitorUrl, repair, now }: BusChecks,
): Promise<{ findings: Diagnosis[]; done: string[] }> {
  const findings = [await checkPromises(nc, monitorUrl)];
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  const repaired = repair ? await provisioned(nc) : { findings: [], done: [] };
  findings.push(...repaired.findings);
  const { streams, durables } = await lookAt(jsm);
  findings.push(...judgeDeclared('streams', declaredStreams(streams)));
  findings.push(...judgeDeclared('durables', declaredDurables(durables)), ...judgeUndeclared(undeclared(durables)));
  await sleep(BETWEEN_LOOKS_MS);
  findings.push(...judgeMoving(looksAt(durables), looksAt((await lookAt(jsm)).durables)));
  findings.push(
    ...judgeStores({ stores: (await limitsOf(jsm, streams)).filter(({ state }) => state !== 'ok'), unseen: [] }),
  );
  findings.push(await checkClock(jsm, now));
  findings.push(deadLetters(streams));
  return { findings, done: repaired.done };
}

/** What somebody has bounded: the account, and streams. */
async function limitsOf(jsm: JetStreamManager, streams: readonly StreamInfo[]): Promise<Store[]> {
  const { storage, limits } = await jsm.getAccountInfo();
  const rooms = [
    { name: 'what the account of the bus may store', usedBytes: storage, limitBytes: limits.max_storage },
    ...streams.map(({ config, state }) => ({
      name: `what the stream ${config.name} may store`,
      usedBytes: state.bytes,
      limitBytes: config.max_bytes,
    })),
  ];
  return rooms.filter(({ limitBytes }) => limitBytes > 0).map(({ name, ...room }) => storeOf(name, room));
}

async function checkPromises(nc: NatsConnection, monitorUrl: string | undefined): Promise<Diagnosis> {
  const version = `nats-server ${nc.info?.version ?? 'of unknown version'}`;
  try {
    await checkServer(nc, { monitorUrl });
    return ok('nats', `${version}, stores before it acknowledges`);
  } catch (error) {
    return bad('nats', `${version}: ${messageOf(error)}`, 'what is acknowledged may be lost with the power');
  }
}

async function provisioned(nc: NatsConnection): Promise<{ findings: Diagnosis[]; done: string[] }> {
  try {
    const { created, updated } = await provision(nc);
    return {
      findings: [],
      done: [...created.map((name) => `made ${name}`), ...updated.map((name) => `mended ${name}`)],
    };
  } catch (error) {
    return { findings: [bad('streams', messageOf(error), 'this cannot be mended while it is used')], done: [] };
  }
}

interface Look {
  readonly streams: readonly StreamInfo[];
  /** Readers that come and go are not among them. */
  readonly durables: readonly ConsumerInfo[];
}

async function lookAt(jsm: JetStreamManager): Promise<Look> {
  const streams: StreamInfo[] = [];
  for await (const stream of jsm.streams.list()) streams.push(stream);
  const lists = streams
    .filter(({ state }) => state.consumer_count > 0)
    .map(async ({ config }) => {
      const found: ConsumerInfo[] = [];
      for await (const consumer of jsm.consumers.list(config.name)) found.push(consumer);
      return found;
    });
  return { streams, durables: (await Promise.all(lists)).flat().filter(isDurable) };
}

function declaredStreams(streams: readonly StreamInfo[]): DeclaredThing[] {
  const found = new Map(streams.map(({ config }) => [config.name, config]));
  return allStreamSettings().map((setting) => {
    const config = found.get(setting.name);
    return { name: setting.name, drift: config && driftOf(setting, config) };
  });
}

const nameOf = (stream: string, consumer: string): string => `${stream}/${consumer}`;

function declaredDurables(durables: readonly ConsumerInfo[]): DeclaredThing[] {
  const found = new Map(durables.map(({ stream_name: stream, name, config }) => [nameOf(stream, name), config]));
  return allDurables().map((spec) => {
    const name = nameOf(spec.stream, spec.durable);
    const config = found.get(name);
    return { name, drift: config && durableDrift(spec, config) };
  });
}

const isDurable = ({ config }: ConsumerInfo): boolean => (config.durable_name ?? '') !== '';

function undeclared(durables: readonly ConsumerInfo[]): string[] {
  const ours = new Set(allDurables().map(({ stream, durable }) => nameOf(stream, durable)));
  return durables
    .filter(({ stream_name: stream, name }) => !ours.has(nameOf(stream, name)) && !isFeedDurable(stream, name))
    .map(({ stream_name: stream, name }) => nameOf(stream, name));
}

/** Whether somebody outside takes from his durable is his affair; the registry keeps it, and is not ready while it is not as it has to be. */
function looksAt(durables: readonly ConsumerInfo[]): DurableLook[] {
  return durables.filter(({ stream_name: stream, name }) => !isFeedDurable(stream, name)).map(lookOf);
}

function lookOf(consumer: ConsumerInfo): DurableLook {
  return {
    name: nameOf(consumer.stream_name, consumer.name),
    pending: consumer.num_pending,
    inWork: consumer.num_ack_pending,
    waiting: consumer.num_waiting,
    delivered: consumer.delivered.consumer_seq,
  };
}

/** The server says in an answer when it gave it: some time between question and answer, and a slow one is no clock that is wrong. */
async function checkClock(jsm: JetStreamManager, now: () => number): Promise<Diagnosis> {
  const asked = now();
  const { ts } = (await jsm.streams.info(STREAMS.RUNS.name)) as { ts?: string };
  const there = Date.parse(ts ?? '');
  if (Number.isNaN(there)) return warn('clock', 'the bus does not say what time it is', 'compare the clocks by hand');
  const [least, most] = [asked - there, now() - there];
  return judgeClock(least > 0 ? least : Math.min(most, 0), PROOF_MS_MAX);
}

function deadLetters(streams: readonly StreamInfo[]): Diagnosis {
  const letters = streams.find(({ config }) => config.name === STREAMS.DLQ.name)?.state.messages ?? 0;
  return letters === 0 ? ok('dlq', 'no dead letters') : warn('dlq', `${letters} dead letters`, 'orrery dlq ls');
}
