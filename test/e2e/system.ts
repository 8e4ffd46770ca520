import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { RunView } from '#proto';
import { foldRun, viewOf } from '#libs/constellation';
import { isAlive } from '#libs/embedded';
import { openRunLog } from '#libs/event-log';
import { connectBus, QueryRefusedError, QueryUnavailableError, signsQueries } from '#libs/messaging';
import { runProgram } from '../../services/cli/run-program.js';
import { PASSABLE_DIR, startSystem } from './start-system.js';
import type { Terminal } from '../../services/cli/terminal/index.js';

export const ROOT = resolve(import.meta.dirname, '../..');
/** As the launcher has it: what was compiled once is read. */
export const COMPILE_CACHE = join(ROOT, '.cache/node-compile');
export const CLI = join(ROOT, 'dist/services/cli/main.js');
const POLL_MS = 20;
/** Who has waited for long asks less often: after an eighth of what has passed, up to this. */
const [PATIENCE, POLL_MS_MAX] = [8, 100];
/** A question that starts a process costs what it waits for: before the next one as long a rest as it took, up to this. */
const REST_MS_MAX = 500;
/** A liveness deadline, ten times what is aimed at: a test that hits it hangs, it is not slow. */
const DEADLINE_MS = 120_000;
/** For a question that is put once: an answer that takes longer than people wait for is one. */
export const PATIENT = { timeoutMs: DEADLINE_MS } as const;

/** Where output is no terminal. */
const COLUMNS = 100;
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Of the command line. */
const surroundings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...process.env,
  ORRERY_ROOT: ROOT,
  NO_COLOR: '1',
  ...env,
});

/** Runs the command line as a user would, in its own process. */
export function run(args: readonly string[], env: NodeJS.ProcessEnv = {}, options: ExecOptions = {}): Promise<Ran> {
  return exec(process.execPath, [CLI, ...args], surroundings(env), options);
}

interface ExecOptions {
  readonly input?: string;
  /** Then it is ended. */
  readonly timeoutMs?: number;
}

export function exec(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { input = '', timeoutMs = 0 }: ExecOptions = {},
): Promise<Ran> {
  return new Promise((settle) => {
    const options = { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024, cwd: ROOT, timeout: timeoutMs };
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      settle({ code, stdout, stderr });
    });
    child.stdin?.on('error', () => undefined); // a program that does not read its input may be gone already
    child.stdin?.end(input);
  });
}

/** The same command line, from its sources and in this process. */
async function runHere(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const out: Uint8Array[] = [];
  let stderr = '';
  const terminal: Terminal = {
    out: (text) => void out.push(Buffer.from(`${text}\n`)),
    bytes: async (data) => void out.push(Buffer.from(data)),
    err: (text) => void (stderr += `${text}\n`),
    isTerminal: false,
    color: false,
    columns: COLUMNS,
  };
  const { signal } = new AbortController();
  const code = await runProgram(args, { terminal, env: surroundings(env), now: Date.now, signal });
  return { code, stdout: Buffer.concat(out).toString(), stderr };
}

const verbsAsked = new Set<string>();

/** Whether nobody has asked for this verb yet: in this whole run of the suite, which says where that is kept, or else in this file. */
function isFirst(verb: string): boolean {
  if (verbsAsked.has(verb)) return false;
  verbsAsked.add(verb);
  const folder = process.env['ORRERY_SPEC_VERBS'];
  if (folder === undefined) return true;
  try {
    return mkdirSync(join(folder, encodeURIComponent(verb)), { recursive: true }) !== undefined;
  } catch {
    return true; // it can be kept nowhere
  }
}

/** What the command line ends with when nobody answers. */
const UNREACHABLE = 4;

/** Nobody is there who could say: whoever waits asks again. */
function isNotYet(error: unknown): boolean {
  if (error instanceof QueryRefusedError) return error.refusal.code === 'TRY_AGAIN';
  return error instanceof QueryUnavailableError;
}

/** Polls until the question has an answer; the deadline only ends a test that would hang. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const began = performance.now();
  for (let trouble: unknown; ;) {
    const asked = performance.now();
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      if (!isNotYet(error)) throw error;
      trouble = error;
    }
    const now = performance.now();
    if (now > began + DEADLINE_MS) throw new Error(`${what} did not come`, { cause: trouble });
    const patient = Math.min((now - began) / PATIENCE, POLL_MS_MAX);
    await sleep(Math.min(Math.max(now - asked, patient, POLL_MS), REST_MS_MAX));
  }
}

interface StartOptions {
  /** Set beside what every test system sets. */
  readonly env?: NodeJS.ProcessEnv;
  /** Makes what lies in its home before the first start, and says what else to set. */
  readonly prepare?: (home: string) => Promise<NodeJS.ProcessEnv>;
  /** By `orrery up --detach`, whoever has started one before. */
  readonly asPeopleDo?: boolean;
}

interface Exported {
  readonly stream: string;
  readonly commit: { readonly events: { readonly type: string; readonly data: Record<string, unknown> }[] };
}

/** A whole embedded system in a home of its own: the processes that `orrery up` starts, with authenticated NATS and PostgreSQL. */
export class TestSystem {
  readonly home: string;
  /** The administrator's token, as it is shown once. */
  token = '';

  readonly #settings: NodeJS.ProcessEnv;
  #bus: Promise<NatsConnection> | undefined;

  private constructor(home: string, settings: NodeJS.ProcessEnv) {
    this.home = home;
    this.#settings = settings;
  }

  static start(...options: readonly string[]): Promise<TestSystem> {
    return TestSystem.startWith({}, ...options);
  }

  /** Of a whole run of the suite the first one is started by `orrery up --detach`, and the others by what that starts. */
  static async startWith(
    { env = {}, prepare, asPeopleDo = false }: StartOptions,
    ...options: readonly string[]
  ): Promise<TestSystem> {
    const home = await mkdtemp(join(tmpdir(), 'orrery-e2e-'));
    await chmod(home, PASSABLE_DIR);
    const system = new TestSystem(home, { ...env, ...(await prepare?.(home)) });
    try {
      system.token = await (asPeopleDo || isFirst('up') ? system.#up(options) : system.#start(options));
      return system;
    } catch (error) {
      await system.stop();
      throw error;
    }
  }

  async #up(options: readonly string[]): Promise<string> {
    const { code, stderr, stdout } = await run(['up', '--detach', '--json', ...options], this.env);
    if (code !== 0) throw new Error(`the system did not start: ${stdout}${stderr}`);
    return (JSON.parse(stdout) as { adminToken: string }).adminToken;
  }

  #start(options: readonly string[]): Promise<string> {
    return startSystem(this.home, surroundings(this.env), options);
  }

  get env(): NodeJS.ProcessEnv {
    const any = {
      ORRERY_BUS_TIMEOUT: String(DEADLINE_MS / 1_000),
      ORRERY_NATS_PORT: '0',
      ORRERY_POSTGRES_PORT: '0',
      ORRERY_CONSOLE_PORT: '0',
      ORRERY_AIP_PORT: '0',
      ORRERY_MCP_PORT: '0',
    };
    return { ...any, ...this.#settings, ORRERY_HOME: this.home };
  }

  /**
   * The command line. The first time that a verb is asked for it is the program that users have, in a process of its own; from then on the
   * same code does in this process what would take a quarter of a second of a processor to start. `run` is always a process.
   */
  cli(...args: readonly string[]): Promise<Ran> {
    return this.cliWith({}, ...args);
  }

  /** The same, with more in its environment: the key of somebody else. */
  cliWith(more: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Ran> {
    const [verb = ''] = args;
    const env = { ...this.env, ...more };
    return isFirst(verb) ? run(args, env) : runHere(args, env);
  }

  /** What it prints, asked again while nobody answers. */
  json<T>(...args: readonly string[]): Promise<T> {
    const words = `orrery ${args.join(' ')}`;
    return until(words, async () => {
      const { stdout, stderr, code } = await this.cli(...args, '--json');
      try {
        const said = JSON.parse(stdout) as T & { error?: { code?: string } };
        // Who answers and refuses says why, with a code.
        return code === UNREACHABLE && said.error?.code === undefined ? undefined : said;
      } catch (cause) {
        throw new Error(`${words} exited with ${code} and printed no JSON: ${stdout}${stderr}`, { cause });
      }
    });
  }

  async endpoints(): Promise<Record<'nats' | 'console' | 'aip', string> & { health: Record<string, string> }> {
    return JSON.parse(await readFile(join(this.home, 'endpoints.json'), 'utf8')) as Awaited<
      ReturnType<TestSystem['endpoints']>
    >;
  }

  /** The processes that `up` keeps alive, as it started them last. */
  async pids(): Promise<Record<string, number>> {
    const file = await readFile(join(this.home, 'processes.json'), 'utf8');
    const processes = JSON.parse(file) as Record<string, { pid: number }>;
    return Object.fromEntries(Object.entries(processes).map(([name, { pid }]) => [name, pid]));
  }

  /** Of one that was killed a moment ago there is another one before long. */
  pidOf(part: string): Promise<number> {
    return until(`a process of ${part}`, async () => {
      const pid = (await this.pids())[part];
      return pid !== undefined && isAlive(pid) ? pid : undefined;
    });
  }

  async kill9(part: string): Promise<void> {
    process.kill(await this.pidOf(part), 'SIGKILL');
  }

  /** The administrator's connection to the bus, made once. It ends with the system. */
  bus(): Promise<NatsConnection> {
    return (this.#bus ??= this.#dial());
  }

  async #dial(): Promise<NatsConnection> {
    return dialAsAdmin(this.home, (await this.endpoints()).nats);
  }

  /** As the log tells it, not as a projection does. No process of its own: many that ask would take the time of those that work. */
  async show(runId: string): Promise<RunView> {
    const run = await this.#look(runId);
    if (run === undefined) throw new Error(`there is no run ${runId}`);
    return run;
  }

  async #look(runId: string): Promise<RunView | undefined> {
    const stored = await openRunLog(await this.bus()).load(runId);
    const run = foldRun(stored.map(({ commit }) => commit));
    return run && viewOf(run, Date.now());
  }

  async untilEnd(runId: string): Promise<RunView> {
    const log = openRunLog(await this.bus());
    let last: RunView | undefined;
    let seen = 0;
    let trouble: unknown;
    try {
      return await until(`the end of ${runId}`, async () => {
        try {
          const end = await log.endsAt(runId);
          if (end === seen) return undefined;
          last = await this.#look(runId);
          seen = end;
        } catch (error) {
          trouble = error; // nats-server is being restarted, or has just been
        }
        return last === undefined || last.endedAt === null ? undefined : last;
      });
    } catch {
      // Nobody sees this system again: what it has to say about the run is said now.
      const { stdout } = await this.cli('steps', runId);
      throw new Error(`${runId} did not end: ${JSON.stringify(last)}\n${stdout}`, { cause: trouble });
    }
  }

  /** The report as soon as it has all of this: it is made of projections, which follow the log. */
  report(runId: string, ...parts: readonly string[]): Promise<string> {
    return until(`a report with ${parts.map((part) => `"${part}"`).join(', ')}`, async () => {
      const { code, stdout } = await this.cli('report', runId);
      return code === 0 && parts.every((part) => stdout.includes(part)) ? stdout : undefined;
    });
  }

  /** What the history of a run says of this kind. */
  async eventsOf(runId: string, type: string): Promise<Record<string, unknown>[]> {
    const { stdout } = await this.cli('export', runId);
    const records = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Partial<Exported>);
    return records
      .flatMap(({ stream, commit }) => (stream === 'RUNS' ? (commit?.events ?? []) : []))
      .filter((event) => event.type === type)
      .map(({ data }) => data);
  }

  async stop(): Promise<void> {
    await (await this.#bus)?.close();
    await this.cli('down');
    await rm(this.home, { recursive: true, force: true });
  }
}

/** The administrator's connection to the bus of this home; what services are asked by it is asked by the first person. */
export async function dialAsAdmin(home: string, url: string): Promise<NatsConnection> {
  const seedFile = join(home, 'keys/admin.seed');
  const nc = await connectBus({ url, seedFile, name: 'test', inboxPrefix: '_INBOX_admin', waitForServer: true });
  const seed = (await readFile(join(home, 'keys/cli.seed'), 'utf8')).trim();
  signsQueries(nc, { seed, now: Date.now });
  return nc;
}
