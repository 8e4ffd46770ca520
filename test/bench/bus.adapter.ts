import { rmSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type NatsConnection, NoRespondersError, RequestError, TimeoutError } from '@nats-io/transport-node';
import { HEADER_TYPES, type RunCommit, STREAMS, type StreamName, SubmitAnswer, subjects } from '#proto';
import { startNats, type NatsHandle } from '#libs/embedded';
import { connectBus, provision } from '#libs/messaging';
import { asksAs, signedRequest } from '#libs/testing';
import { cpuSeconds, rssBytesMax } from './processes.adapter.js';
import { type LogPositions, RawLog } from './raw-log.adapter.js';
import type { Ended, Floor } from './target.js';

const SUBMIT_MS_MAX = 10_000;
const SUBMIT_TRIES_MAX = 500;
const SUBMIT_AGAIN_MS = 20;
const RUN_MS_MAX = 120_000;
const PASSABLE = 0o711;
/** What a service that is about to serve answers with. */
const NOT_YET: ReadonlySet<string> = new Set(['TRY_AGAIN', 'NO_PLANNER', 'UNAUTHORIZED']);

/** A nats-server of its own with an empty store and fsync, the client side of submitting, and the ends of runs as they are stored. */
export class Bus {
  readonly nc: NatsConnection;
  readonly raw: RawLog;
  readonly directory: string;
  /** What a service needs to find this server. */
  readonly env: Readonly<Record<string, string>>;
  readonly #server: NatsHandle;
  readonly #ends = new Map<string, PromiseWithResolvers<Ended>>();
  /** What was stored up to here has been replayed, or belongs to runs that nobody asks about. */
  #replayed: LogPositions = { runs: 0, attempts: 0 };

  private constructor(parts: { nc: NatsConnection; raw: RawLog; directory: string; server: NatsHandle }) {
    const { nc, raw, directory, server } = parts;
    [this.nc, this.raw, this.directory, this.#server] = [nc, raw, directory, server];
    this.env = {
      ORRERY_NATS_URL: server.url,
      ORRERY_NATS_MONITOR_URL: server.monitorUrl,
      ORRERY_LOG_LEVEL: 'warn',
      ORRERY_HEALTH_PORT: '0',
    };
    nc.subscribe(subjects.anyLiveRun, {
      callback: (_, message) => {
        const types = message.headers?.get(HEADER_TYPES) ?? '';
        if (!/RUN_(?:COMPLETED|FAILED|CANCELLED)/u.test(types)) return;
        const { events } = message.json<RunCommit>();
        const succeeded = events.some(({ type, data }) => type === 'RUN_COMPLETED' && data.outcome === 'succeeded');
        this.#endOf(message.subject.split('.').at(-1) ?? '').resolve({ at: performance.now(), succeeded });
      },
    });
  }

  static async open(parent: string): Promise<Bus> {
    const directory = await mkdtemp(join(parent, 'orrery-bench-'));
    // PostgreSQL runs as another user when we are root: it may pass through, and read nothing in it.
    await chmod(directory, PASSABLE);
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
    const server = await startNats({ storeDir: join(directory, 'nats'), dieWithParent: true });
    const nc = await connectBus({ url: server.url, name: 'bench', inboxPrefix: '_INBOX_bench' });
    await provision(nc);
    await asksAs(nc);
    return new Bus({ nc, raw: await RawLog.open(nc), directory, server });
  }

  get natsVersion(): string {
    return this.nc.info?.version ?? 'unknown';
  }

  /** Of the server and of this process: the two that every target has. */
  cpuSeconds(): Readonly<Record<string, number>> {
    return {
      nats: cpuSeconds(this.#server.pid, { children: false }),
      bench: cpuSeconds(process.pid, { children: false }),
    };
  }

  rssBytes(): number {
    return rssBytesMax(this.#server.pid);
  }

  /** A replica serves its partitions within a heartbeat or two; until then, and after a crash, the answer is to try again. */
  async submit(request: object): Promise<string> {
    for (let tries = 0; tries < SUBMIT_TRIES_MAX; tries++) {
      const answer = await this.#submitOnce(request);
      if (answer !== undefined && 'runId' in answer) return answer.runId;
      if (answer !== undefined && !NOT_YET.has(answer.error.code)) throw new Error(answer.error.message);
      await sleep(SUBMIT_AGAIN_MS);
    }
    throw new Error('nobody accepted the request');
  }

  async untilEnd(runId: string): Promise<Ended> {
    const late = new AbortController();
    const limit = sleep(RUN_MS_MAX, undefined, { signal: late.signal, ref: false }).then(() => {
      throw new Error(`run ${runId} did not end in ${RUN_MS_MAX} ms`);
    });
    limit.catch(() => undefined);
    const ended = await Promise.race([this.#endOf(runId).promise, limit]);
    late.abort();
    return ended;
  }

  async appended(names: readonly StreamName[]): Promise<Readonly<Record<string, number>>> {
    const counts = names.map(async (name) => [name, await this.raw.lastSequence(STREAMS[name].name)] as const);
    return Object.fromEntries(await Promise.all(counts));
  }

  async floor(runIds: readonly string[]): Promise<Floor> {
    const floor = await this.raw.replay(runIds, this.#replayed);
    const { RUNS: runs = 0, ATTEMPTS: attempts = 0 } = await this.appended(['RUNS', 'ATTEMPTS']);
    this.#replayed = { runs, attempts };
    return floor;
  }

  async close(): Promise<void> {
    await this.nc.close();
    await this.#server.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  async #submitOnce(request: object): Promise<SubmitAnswer | undefined> {
    try {
      const reply = await this.nc.request(subjects.submit, await signedRequest(this.nc, request), {
        timeout: SUBMIT_MS_MAX,
      });
      return SubmitAnswer.parse(reply.json());
    } catch (error) {
      const nobody = [NoRespondersError, TimeoutError, RequestError].some((kind) => error instanceof kind);
      if (nobody) return undefined;
      throw error;
    }
  }

  #endOf(runId: string): PromiseWithResolvers<Ended> {
    const known = this.#ends.get(runId);
    if (known !== undefined) return known;
    const made = Promise.withResolvers<Ended>();
    this.#ends.set(runId, made);
    return made;
  }
}
