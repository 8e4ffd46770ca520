import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { WebSocket } from 'ws';
import { generateHistory, runCommitsOf, watchedRun } from '#libs/testing';
import { subjects, type RunCommit } from '#proto';
import { loadAverage } from '../processes.adapter.js';
import { percentileOf } from '../statistics.js';
import { ConsolePage } from './console-page.adapter.js';
import { ConsoleSystem } from './console-system.adapter.js';
import { eventTimes, stageMeans, STAGES, type EventTimes, type GivenEvent } from './event-times.js';
import { meanSeconds, ProcessorTimes, type Seconds } from './processor-times.adapter.js';

const CLIENTS = 19;
const EVENTS_PER_SECOND = 200;
const TASKS = 1_000;
const SETTLE_MS = 3_000;
const SHOWN_MS_MAX = 120_000;
const QUESTIONS_EACH = 20;
const PUBLISHED_AT_ONCE = 200;
const LISTED_MS_MAX = 600_000;
const LIST_POLL_MS = 500;
const MIB = 1024 * 1024;
const FRAME_MS = 8;
const P50_MS = 100;
const P99_MS = 300;
/** Who has less of a processor is not told of. */
const SHARE_MIN = 0.01;

export interface ConsoleOptions {
  readonly parent: string;
  /** How long events are watched: one run after the other. */
  readonly minutes: number;
  /** Runs that are listed. */
  readonly runs: number;
}

export interface ConsoleFigure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly aim: number | null;
}

/** The console of a whole system: how long events take to a screen, and its memory, while a page and 19 others watch 200 events a second, and long lists. */
export async function consoleFigures({ parent, minutes, runs }: ConsoleOptions): Promise<ConsoleFigure[]> {
  const before = loadAverage();
  const system = await ConsoleSystem.start(parent);
  try {
    // The runs that are watched are histories: who carries out tasks would take each of them for one that has long been somebody's.
    const live = await system.without('device-agent', () => liveFigures(system, minutes));
    process.stderr.write(`${consoleTable(live)}\n`);
    const lists = await listFigures(system, runs);
    const load = (what: string, value: number): ConsoleFigure => ({ what, value, unit: '', aim: null });
    return [...live, ...lists, load('load before', before), load('load after', loadAverage())];
  } finally {
    await system.stop();
  }
}

/** A run that was watched. */
interface Round {
  readonly times: readonly EventTimes[];
  readonly p99: number;
  /** Whose the processor was meanwhile. */
  readonly processor: Seconds;
}

async function liveFigures(system: ConsoleSystem, minutes: number): Promise<ConsoleFigure[]> {
  const { url, token } = system;
  const page = await ConsolePage.open(url, token);
  const memory: { readonly all: number; readonly own: number }[] = [];
  const rounds: Round[] = [];
  const processor = new ProcessorTimes(system.pids);
  let frames: ConsoleFigure[] = [];
  const sampling = setInterval(() => memory.push({ all: system.rssBytes(), own: system.ownBytes() }), 1_000);
  try {
    const end = performance.now() + minutes * 60_000;
    while (rounds.length === 0 || performance.now() < end) {
      const times = await watched(system, page, `watched-${rounds.length + 1}`, () => void processor.since());
      const all = times.map((one) => one.all);
      const round = { times, p99: percentileOf(all, 0.99), processor: processor.since() };
      rounds.push(round);
      process.stderr.write(`${roundText(rounds.length, round)}\n`);
    }
    frames = await frameFigures(page);
  } finally {
    clearInterval(sampling);
    await page.close();
  }
  return [...timeFigures(rounds), ...memoryFigures(memory), ...frames, ...processorFigures(rounds)];
}

function timeFigures(rounds: readonly Round[]): ConsoleFigure[] {
  const times = rounds.flatMap((round) => round.times);
  const latenciesMs = times.map(({ all }) => all);
  const p99s = rounds.map(({ p99 }) => p99);
  const { usual, slow } = stageMeans(times);
  return [
    { what: 'event given to the log to pixel, p50', value: percentileOf(latenciesMs, 0.5), unit: 'ms', aim: P50_MS },
    { what: 'event given to the log to pixel, p99', value: percentileOf(latenciesMs, 0.99), unit: 'ms', aim: P99_MS },
    { what: 'the same, p99 of a run, median', value: percentileOf(p99s, 0.5), unit: 'ms', aim: P99_MS },
    { what: 'the same, p99 of a run, worst', value: Math.max(...p99s), unit: 'ms', aim: null },
    { what: 'runs', value: rounds.length, unit: '', aim: null },
    {
      what: `runs with a p99 above ${P99_MS} ms`,
      value: p99s.filter((p99) => p99 > P99_MS).length,
      unit: '',
      aim: null,
    },
    ...STAGES.flatMap((stage, at) => [
      { what: `of it until ${stage}, mean`, value: usual[at] ?? 0, unit: 'ms', aim: null },
      { what: `of it until ${stage}, mean of the slowest hundredth`, value: slow[at] ?? 0, unit: 'ms', aim: null },
    ]),
  ];
}

function memoryFigures(memory: readonly { readonly all: number; readonly own: number }[]): ConsoleFigure[] {
  const all = memory.map((one) => one.all);
  const quarter = Math.ceil(all.length / 4);
  const mib = (what: string, bytes: number, aim: number | null = null): ConsoleFigure => ({
    what: `console service, ${what}`,
    value: bytes / MIB,
    unit: 'MiB',
    aim,
  });
  return [
    mib('most memory', Math.max(...all), 200),
    mib('most memory that is its own, not of files', Math.max(...memory.map(({ own }) => own))),
    mib('median of the first quarter', percentileOf(all.slice(0, quarter), 0.5)),
    mib('median of the last quarter', percentileOf(all.slice(-quarter), 0.5)),
  ];
}

/** Whose the two processors were while events came: in all runs, and in those that missed the aim. */
function processorFigures(rounds: readonly Round[]): ConsoleFigure[] {
  const late = rounds.filter(({ p99 }) => p99 > P99_MS);
  const figures = (some: readonly Round[], when: string): ConsoleFigure[] =>
    [...meanSeconds(some.map(({ processor }) => processor))]
      .filter(([, share]) => share >= SHARE_MIN)
      .map(([name, share]) => ({ what: `of a processor, ${when}: ${name}`, value: share * 100, unit: '%', aim: null }));
  return [...figures(rounds, 'all runs'), ...(late.length > 0 ? figures(late, `runs above ${P99_MS} ms`) : [])];
}

/** What the constellation of the run that was watched last costs the page while a mouse moves and zooms it. */
async function frameFigures(page: ConsolePage): Promise<ConsoleFigure[]> {
  const figures: ConsoleFigure[] = [];
  for (const [what, gesture] of [
    ['moved as shapes', 'move'],
    ['zoomed', 'zoom'],
    ['moved with stars that can be read', 'move'],
  ] as const) {
    const ms = await page.frames(gesture);
    const mean = ms.reduce((sum, one) => sum + one, 0) / ms.length;
    figures.push(
      { what: `main thread for a frame, ${what}, mean`, value: mean, unit: 'ms', aim: FRAME_MS },
      { what: `main thread for a frame, ${what}, p95`, value: percentileOf(ms, 0.95), unit: 'ms', aim: null },
    );
  }
  return figures;
}

/** One line, while the bench goes on. */
function roundText(number: number, { times, p99, processor }: Round): string {
  const p50 = percentileOf(
    times.map(({ all }) => all),
    0.5,
  );
  const slow = stageMeans(times).slow.map((ms, at) => `${STAGES[at]} ${ms.toFixed(0)}`);
  const shares = [...meanSeconds([processor])]
    .filter(([, share]) => share >= SHARE_MIN)
    .map(([name, share]) => `${name} ${(share * 100).toFixed(0)}`);
  const said = `run ${number}: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms; the slowest: ${slow.join(', ')}`;
  return `${said}; % of a processor: ${shares.join(', ')}`;
}

/** One run, watched by a page and by others, until the page shows its last event: how long each commit took to the screen. `onBegin`: called when its events begin to come. */
async function watched(
  { nc, url, token }: ConsoleSystem,
  page: ConsolePage,
  requestId: string,
  onBegin: () => void,
): Promise<EventTimes[]> {
  const [first, ...commits] = watchedRun(requestId, TASKS);
  if (first === undefined) throw new Error('the run is empty');
  const { runId } = first;
  const log = jetstream(nc, { checkAPI: false });
  const publish = (commit: RunCommit) => log.publish(subjects.run(runId), JSON.stringify(commit));
  await publish(first);
  const told = new Map<number, number>();
  const others = Array.from({ length: CLIENTS }, (_, at) => follow(url, token, runId, at === 0 ? told : undefined));
  try {
    await Promise.all(others.map(({ opened }) => opened));
    await page.show(runId);
    await sleep(SETTLE_MS);
    await page.keepShown();
    const given: GivenEvent[] = [];
    onBegin();
    const began = performance.now();
    let events = 0;
    for (const commit of commits) {
      await sleep(Math.max(0, began + (events * 1_000) / EVENTS_PER_SECOND - performance.now()));
      events += commit.events.length;
      const at = performance.now();
      const { seq } = await publish(commit);
      given.push({ event: commit.events.at(-1)?.sequence ?? 0, at, place: seq, storedAt: performance.now() });
    }
    await untilSeen(page, given.at(-1)?.event ?? 0);
    return eventTimes(given, await page.kept(), told);
  } finally {
    for (const { socket } of others) socket.terminate();
  }
}

async function untilSeen(page: ConsolePage, last: number): Promise<void> {
  const deadline = performance.now() + SHOWN_MS_MAX;
  for (;;) {
    if ((await page.lastShown()) >= last) return;
    if (performance.now() > deadline) throw new Error(`event ${last} was not shown in ${SHOWN_MS_MAX} ms`);
    await sleep(100);
  }
}

const PLACE = /^\{"channel":1,"kind":"commit","sequence":(?<place>\d+)/u;
const PLACE_BYTES_MAX = 80;

/** Somebody else who watches the same run. `told`: when it had which commit, by its place in the log. */
function follow(
  url: string,
  token: string,
  run: string,
  told?: Map<number, number>,
): { readonly socket: WebSocket; readonly opened: Promise<void> } {
  const headers = { Authorization: `Bearer ${token}` };
  // What it reads is looked at no further than is asked for: the processor of this machine is for what is measured.
  const options = { headers, skipUTF8Validation: true };
  const socket = new WebSocket(`${url.replace(/^http/u, 'ws')}/v1/live`, options);
  const opened = new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => {
      socket.send(JSON.stringify({ op: 'open', channel: 1, topic: { kind: 'run', run } }));
      resolve();
    });
  });
  if (told !== undefined) {
    socket.on('message', (data: Buffer) => {
      const place = PLACE.exec(data.toString('latin1', 0, PLACE_BYTES_MAX))?.groups;
      if (place !== undefined) told.set(Number(place['place']), performance.now());
    });
  }
  return { socket, opened };
}

/** Small runs that have ended, each another one. */
function endedRun(seed: number): RunCommit[] {
  return runCommitsOf(generateHistory({ seed, tasks: 2 }));
}

async function listFigures({ nc, url, token }: ConsoleSystem, runs: number): Promise<ConsoleFigure[]> {
  const log = jetstream(nc, { checkAPI: false });
  for (let seed = 1; seed <= runs; seed += PUBLISHED_AT_ONCE) {
    const some = Array.from({ length: Math.min(PUBLISHED_AT_ONCE, runs - seed + 1) }, (_, at) => endedRun(seed + at));
    await Promise.all(
      some.map(async (commits) => {
        for (const commit of commits) await log.publish(subjects.run(commit.runId), JSON.stringify(commit));
      }),
    );
  }
  const ask = async (query: string): Promise<string> => {
    const response = await fetch(`${url}/v1/runs?${query}`, { headers: { Authorization: `Bearer ${token}` } });
    if (!response.ok) throw new Error(`${query}: ${response.status} ${await response.text()}`);
    return response.text();
  };
  const headers = { Authorization: `Bearer ${token}` };
  const deadline = performance.now() + LISTED_MS_MAX;
  while (!(await fetch(`${url}/v1/runs/run${runs}`, { headers })).ok) {
    if (performance.now() > deadline) throw new Error('the runs were not projected');
    await sleep(LIST_POLL_MS);
  }
  const figures: ConsoleFigure[] = [];
  for (const query of ['limit=100', 'status=FAILED&limit=100', 'device=web-2&limit=100', 'by=ops&limit=100']) {
    const times: number[] = [];
    for (let count = 0; count < QUESTIONS_EACH; count++) {
      const began = performance.now();
      await ask(query);
      times.push(performance.now() - began);
    }
    figures.push({ what: `${runs} runs, ${query}, p99`, value: percentileOf(times, 0.99), unit: 'ms', aim: 200 });
  }
  return figures;
}

export function consoleTable(figures: readonly ConsoleFigure[]): string {
  const rows = figures.map(({ what, value, unit, aim }) => {
    const said = aim === null ? '-' : `${aim} ${unit}, ${value <= aim ? 'met' : 'missed'}`;
    return `| ${what} | ${value.toFixed(1)} ${unit} | ${said} |`;
  });
  return ['| figure | value | aim |', '| --- | --- | --- |', ...rows].join('\n');
}
