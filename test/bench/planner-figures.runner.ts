import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKETS, type AgentProfile, type Json, PlanCommit, STREAMS, type StreamName } from '#proto';
import { readCommits, runIdOf } from '#libs/event-log';
import { countPromptTokens, ScriptedChatModel, type ChatModel } from '#libs/llm';
import { connectBus } from '#libs/messaging';
import type { Replica } from '#libs/testing';
import { PlanningFleet } from '../../services/planner/fleet/fleet.js';
import { servePlanner } from '../../services/planner/testing/served.js';
import { Bus } from './bus.adapter.js';
import { PlannedRun, type Written } from './planned-run.adapter.js';
import { loadAverage } from './processes.adapter.js';
import { percentileOf, spreadOf } from './statistics.js';

const DEVICES = ['web-1', 'db-1'];
const RESULT_BYTES = 2_048;
const WARM_UPS = 3;
const REPETITIONS = 20;
const SINGLE_APPENDS = 200;
const SINGLE_BYTES = 1_024;
const P90 = 0.9;
const AIM_MS = 30;
/** Rounds of one long run, each for one task more, and which of them are looked at. */
const LONG_ROUNDS = 200;
const LONG_WINDOWS = [
  [1, 1],
  [6, 10],
  [46, 50],
  [196, 200],
] as const;
/** A long run is played once for so many repetitions of the rest. */
const REPETITIONS_PER_LONG_RUN = 5;
/** From the start of the service to its first round. */
const READY_MS = 1_000;
const NANOS_PER_MS = 1e6;
/** A model takes at least as long as its prompt to be stored, which goes on meanwhile. Not counted. */
const MODEL_MS = 50;

/** One kind of round: how it is asked for, and what it took. */
export interface PlannerFigure {
  readonly what: string;
  /** From the commit that opens the round to the one with the proposal, as the server stored them, without the time of the model. */
  readonly ms: { readonly p50: number; readonly p90: number; readonly p99: number };
  /** p50 over one append of a KiB to the same log. */
  readonly ratio: number;
  readonly rounds: number;
  /** The longest prompt, in o200k tokens; null where no model was asked. */
  readonly promptTokens: number | null;
}

export interface PlannerFigures {
  readonly figures: readonly PlannerFigure[];
  /** Median of one append, made in turn with the rounds. */
  readonly appendMs: number;
  /** The very first round of the process, a second after its start: it compiles what the others use. */
  readonly firstMs: number;
  readonly loadBefore: number;
  readonly loadAfter: number;
}

interface Scenario {
  readonly name: string;
  /** Of the plan that the model makes; null: a runbook is used. */
  readonly tasks: number | null;
}

const SCENARIOS: readonly Scenario[] = [
  { name: '5', tasks: 5 },
  { name: '100', tasks: 100 },
  { name: 'runbook', tasks: null },
];

/** What planning takes besides the model: the service's own parts in this process, a server of its own with fsync. */
export async function plannerFigures(options: {
  readonly parent: string;
  readonly repetitions: number | undefined;
}): Promise<PlannerFigures> {
  const bench = await PlannerBench.start(options.parent);
  try {
    const { repetitions = REPETITIONS } = options;
    await sleep(READY_MS);
    const [first] = await bench.play(SCENARIOS[0], 'first');
    for (let index = 0; index < WARM_UPS; index++) await bench.playAll(`warm-${index}`);
    const loadBefore = loadAverage();
    const all: Round[] = [];
    const appends: number[] = [];
    for (let index = 0; index < repetitions; index++) {
      all.push(...(await bench.playAll(`run-${index}`)));
      appends.push(...(await bench.bus.raw.single(SINGLE_BYTES, SINGLE_APPENDS / REPETITIONS)));
      if (index % REPETITIONS_PER_LONG_RUN === 0) all.push(...(await bench.playLong(`long-${index}`)));
    }
    const appendMs = spreadOf(appends).median;
    const names = [...new Set(all.map(({ what }) => what))];
    const figures = names.map((what) => figureOf(what, all, appendMs));
    return { figures, appendMs, firstMs: first?.ms ?? Number.NaN, loadBefore, loadAfter: loadAverage() };
  } finally {
    await bench.stop();
  }
}

/** As Markdown, as it is printed and as it goes into the documentation. */
export function plannerTable({ figures, appendMs, firstMs, loadBefore, loadAfter }: PlannerFigures): string {
  const columns = ['round', 'p50', 'p90', 'p99', 'n', 'ratio to one append', 'tokens of the prompt'];
  const rows = figures.map(({ what, ms, ratio, rounds, promptTokens }) => [
    what,
    ...[ms.p50, ms.p90, ms.p99].map((value) => `${value.toFixed(1)} ms`),
    String(rounds),
    ratio.toFixed(1),
    promptTokens === null ? '-' : String(promptTokens),
  ]);
  const table = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  const verdicts = figures.map(({ what, ms }) => {
    const said = `${what}: p50 ${ms.p50.toFixed(1)} ms, aim ${AIM_MS} ms`;
    return ms.p50 <= AIM_MS ? `met     ${said}` : `MISSED  ${said}`;
  });
  const beside = `one append of 1 KiB: ${appendMs.toFixed(2)} ms; the first round of the process: ${firstMs.toFixed(0)} ms; load ${loadBefore.toFixed(1)}-${loadAfter.toFixed(1)}`;
  return [table, '', beside, '', ...verdicts].join('\n');
}

interface Round {
  readonly what: string;
  readonly ms: number;
  readonly promptTokens: number | null;
}

function figureOf(what: string, all: readonly Round[], appendMs: number): PlannerFigure {
  const rounds = all.filter((round) => round.what === what);
  const times = rounds.map(({ ms }) => ms);
  const { median, p99 } = spreadOf(times);
  const tokens = rounds.flatMap(({ promptTokens }) => promptTokens ?? []);
  return {
    what,
    ms: { p50: median, p90: percentileOf(times, P90), p99 },
    ratio: median / appendMs,
    rounds: rounds.length,
    promptTokens: tokens.length === 0 ? null : Math.max(...tokens),
  };
}

/** What a model was asked and took, by turn. */
interface Asked {
  readonly ms: number;
  readonly messages: Parameters<typeof countPromptTokens>[0];
}

class PlannerBench {
  readonly bus: Bus;
  readonly #planner: Replica;
  readonly #connection: NatsConnection;
  readonly #asked: Map<string, Asked>;
  readonly #fleet = new PlanningFleet();
  readonly #proposed = new Map<string, PromiseWithResolvers<{ commit: PlanCommit; sequence: number }>>();
  readonly #reading = new AbortController();

  private constructor(parts: {
    bus: Bus;
    planner: Replica;
    connection: NatsConnection;
    asked: Map<string, Asked>;
    profiles: readonly AgentProfile[];
  }) {
    this.bus = parts.bus;
    this.#planner = parts.planner;
    this.#connection = parts.connection;
    this.#asked = parts.asked;
    this.#fleet.replace(new Map(parts.profiles.map((profile) => [profile.deviceId, profile])));
    void this.#read();
  }

  static async start(parent: string): Promise<PlannerBench> {
    const bus = await Bus.open(parent);
    const profiles = DEVICES.map(profileOf);
    const bucket = await new Kvm(bus.nc).open(BUCKETS.AGENT_PROFILES.bucket);
    for (const profile of profiles) await bucket.put(profile.deviceId, JSON.stringify(profile));
    const url = bus.env['ORRERY_NATS_URL'] ?? '';
    const connection = await connectBus({ url, name: 'planner', inboxPrefix: '_INBOX_planner' });
    const asked = new Map<string, Asked>();
    const planner = await servePlanner({ nc: connection, instance: 'bench', kit: { model: scriptedModel(asked) } });
    return new PlannerBench({ bus, planner, connection, asked, profiles });
  }

  async playAll(name: string): Promise<Round[]> {
    const rounds: Round[] = [];
    for (const scenario of SCENARIOS) rounds.push(...(await this.play(scenario, name)));
    return rounds;
  }

  /** A run from its goal to the first round after its plan was carried out. */
  async play({ name, tasks }: Scenario = { name: '5', tasks: 5 }, id: string): Promise<Round[]> {
    const runId = runIdOf('default', `${id}-${name}`);
    const run = new PlannedRun(this.bus.nc, runId, this.#fleet.view);
    const what = tasks === null ? 'by a runbook' : `with ${tasks} tasks`;
    const created = await this.#round(`creation ${what}`, runId, () =>
      run.submit(tasks === null ? 'fleet-health' : `look at ${tasks} places`),
    );
    await run.take(created.commit);
    const edited = await this.#round(tasks === null ? 'end of a runbook, by rule' : `edit ${what}`, runId, () =>
      carriedOut(run),
    );
    return [created.round, edited.round];
  }

  /** A run that is planned as one task, and edited again and again by one more. */
  async playLong(id: string): Promise<Round[]> {
    const runId = runIdOf('default', id);
    const run = new PlannedRun(this.bus.nc, runId, this.#fleet.view);
    const rounds: Round[] = [];
    for (let number = 1; number <= LONG_ROUNDS; number++) {
      const ask = () => (number === 1 ? run.submit('look at 1 places', { rounds: LONG_ROUNDS }) : carriedOut(run));
      const { commit, round } = await this.#round(`round ${number}`, runId, ask);
      rounds.push(round);
      await run.take(commit);
    }
    return LONG_WINDOWS.flatMap(([from, to]) => {
      const what = from === to ? `round ${from} of a long run` : `rounds ${from} to ${to} of a long run`;
      return rounds.slice(from - 1, to).map((round) => ({ ...round, what }));
    });
  }

  async stop(): Promise<void> {
    this.#reading.abort();
    await this.#planner.stop();
    await this.#connection.close();
    await this.bus.close();
  }

  async #round(what: string, runId: string, ask: () => Promise<Written>) {
    const waiting = Promise.withResolvers<{ commit: PlanCommit; sequence: number }>();
    this.#proposed.set(runId, waiting);
    const { commit, sequence } = await ask();
    const opened = commit.events.findLast(({ type }) => type === 'EDIT_OPENED');
    if (opened?.type !== 'EDIT_OPENED') throw new Error(`no round was opened: ${what}`);
    const proposed = await waiting.promise;
    const failed = proposed.commit.events.find(({ type }) => type === 'ROUND_FAILED');
    if (failed !== undefined) throw new Error(`${what}: ${JSON.stringify(failed.data)}`);
    const asked = this.#asked.get(`${runId}.${opened.data.editId}.1`);
    const took = (await this.#storedAt('PLANS', proposed.sequence)) - (await this.#storedAt('RUNS', sequence));
    const promptTokens = asked === undefined ? null : countPromptTokens(asked.messages);
    const round: Round = { what, ms: took / NANOS_PER_MS - (asked?.ms ?? 0), promptTokens };
    return { commit: proposed.commit, round };
  }

  /** Nanoseconds of the server's clock, of which only differences mean anything. */
  async #storedAt(stream: StreamName, seq: number): Promise<number> {
    const jsm = await jetstreamManager(this.bus.nc, { checkAPI: false });
    const stored = await jsm.streams.getMessage(STREAMS[stream].name, { seq });
    if (stored === null) throw new Error(`message ${seq} of ${stream} is gone`);
    return nanosOf(stored.timestamp);
  }

  async #read(): Promise<void> {
    const { signal } = this.#reading;
    for await (const { data, sequence } of readCommits(this.bus.nc, 'PLANS', { afterSequence: 0, signal })) {
      const commit = PlanCommit.parse(JSON.parse(new TextDecoder().decode(data)));
      this.#proposed.get(commit.runId)?.resolve({ commit, sequence });
    }
  }
}

/** Gives each task its result until a round is opened; answers the commit that opens it. */
async function carriedOut(run: PlannedRun): Promise<Written> {
  let last: Written | undefined;
  while (!run.isEdited) {
    const [next] = run.running;
    if (next === undefined) throw new Error('the run waits for nothing');
    last = await run.complete(next, { exit_code: 0, stdout: listing(RESULT_BYTES, next), stderr: '' });
  }
  if (last === undefined) throw new Error('nothing was carried out');
  return last;
}

/** Of today, in nanoseconds: small enough to be exact. */
function nanosOf(timestamp: string): number {
  const { clock = '', fraction = '' } = /T(?<clock>[\d:]+)(?:\.(?<fraction>\d+))?Z$/u.exec(timestamp)?.groups ?? {};
  const [hours = 0, minutes = 0, seconds = 0] = clock.split(':').map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1e9 + Number(fraction.padEnd(9, '0'));
}

/** Says what a plan of so many tasks would be, and then one task more. */
function scriptedModel(asked: Map<string, Asked>): ChatModel {
  const model = new ScriptedChatModel(
    ({ turn, messages }) => {
      const editId = turn.split('.').at(-2) ?? '';
      if (editId !== 'e1') return { json: editOf(editId) };
      const goal = /look at (?<tasks>\d+) places/u.exec(JSON.stringify(messages.at(-1)?.content));
      return { json: planOf(Number(goal?.groups?.['tasks'])) };
    },
    { tokens: { prompt: 1, completion: 1 } },
  );
  return {
    ask: async (request) => {
      const began = performance.now();
      await sleep(MODEL_MS);
      const answers = await model.ask(request);
      model.requests.length = 0;
      asked.set(request.turn, { ms: performance.now() - began, messages: request.messages });
      return answers;
    },
  };
}

const taskOf = (task_id: string, device: string): Json => ({
  task_id,
  name: `look at ${task_id}`,
  description: `Report how full the file system of ${task_id} is.`,
  target_device_id: device,
  command: { tool: 'EXEC_CLI', arguments: JSON.stringify({ command: `df -P /srv/${task_id}` }) },
});

function planOf(tasks: number): Json {
  const places = Array.from({ length: tasks }, (_, index) => taskOf(`place-${index}`, DEVICES[index % 2] ?? ''));
  const constellation = { name: 'places', tasks: places, dependencies: [] };
  return { observation: '', thought: 'one look each', state: 'CONTINUE', constellation };
}

/** One task more, which no other round has added. */
function editOf(editId: string): Json {
  return {
    observation: 'as expected',
    thought: 'one more look',
    state: 'CONTINUE',
    actions: [{ tool: 'add_task', arguments: taskOf(`one-more-${editId}`, 'web-1') }],
  };
}

/** What looks like the output of a command, never the same. */
function listing(bytes: number, seed: string): string {
  let text = '';
  for (let row = 0; text.length < bytes; row++) {
    text += `-rw-r--r-- 1 root root ${(row * 7_919 + seed.length * 31) % 99_991} Mar ${(row % 28) + 1} 08:${row % 60} ${seed}-${row}.log\n`;
  }
  return text.slice(0, bytes);
}

function profileOf(deviceId: string): AgentProfile {
  const at = new Date().toISOString();
  return {
    deviceId,
    status: 'connected',
    agent: 'LinuxAgent',
    os: 'linux',
    arch: 'x64',
    hostname: deviceId,
    capabilities: [],
    tags: [],
    tools: [
      { name: 'EXEC_CLI', description: 'runs a command line', readOnly: false },
      { name: 'SYS_INFO', description: 'tells about the machine', readOnly: true },
    ],
    resources: { cpuCount: 2, memoryMb: 1_024 },
    tasksMax: 1_000,
    held: null,
    session: { sessionId: `${deviceId}-s1`, gateway: 'bench', journalId: `${deviceId}-j`, connectedAt: at },
    revision: 1,
    enrolledAt: at,
    changedAt: at,
  };
}
