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

async function liveFigures(system: ConsoleSystem, minutes: number): Promise<ConsoleFigure[]> {
  const { url, token } = system;
  const page = await ConsolePage.open(url, token);
  const memory: number[] = [];
  const times: EventTimes[] = [];
  let frames: ConsoleFigure[] = [];
  const sampling = setInterval(() => memory.push(system.rssBytes()), 1_000);
  try {
    const end = performance.now() + minutes * 60_000;
    for (let round = 1; round === 1 || performance.now() < end; round++) {
      const some = await watched(system, page, `watched-${round}`);
      process.stderr.write(`${roundText(round, some)}\n`);
      times.push(...some);
    }
    frames = await frameFigures(page);
  } finally {
    clearInterval(sampling);
    await page.close();
  }
  const [early, late] = [memory.slice(0, Math.ceil(memory.length / 4)), memory.slice(-Math.ceil(memory.length / 4))];
  const mib = { unit: 'MiB' };
  const latenciesMs = times.map(({ all }) => all);
  const { usual, slow } = stageMeans(times);
  return [
    { what: 'event given to the log to pixel, p50', value: percentileOf(latenciesMs, 0.5), unit: 'ms', aim: 100 },
    { what: 'event given to the log to pixel, p99', value: percentileOf(latenciesMs, 0.99), unit: 'ms', aim: 300 },
    ...STAGES.flatMap((stage, at) => [
      { what: `of it until ${stage}, mean`, value: usual[at] ?? 0, unit: 'ms', aim: null },
      { what: `of it until ${stage}, mean of the slowest hundredth`, value: slow[at] ?? 0, unit: 'ms', aim: null },
    ]),
    { what: 'console service, most memory', value: Math.max(...memory) / MIB, ...mib, aim: 200 },
    { what: 'console service, median of the first quarter', value: percentileOf(early, 0.5) / MIB, ...mib, aim: null },
    { what: 'console service, median of the last quarter', value: percentileOf(late, 0.5) / MIB, ...mib, aim: null },
    ...frames,
  ];
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
function roundText(round: number, times: readonly EventTimes[]): string {
  const all = times.map((one) => one.all);
  const [p50, p99] = [percentileOf(all, 0.5).toFixed(0), percentileOf(all, 0.99).toFixed(0)];
  const slow = stageMeans(times).slow.map((ms, at) => `${STAGES[at]} ${ms.toFixed(0)}`);
  return `run ${round}: p50 ${p50} ms, p99 ${p99} ms; the slowest: ${slow.join(', ')}`;
}

/** One run, watched by a page and by others, until the page shows its last event: how long each commit took to the screen. */
async function watched({ nc, url, token }: ConsoleSystem, page: ConsolePage, requestId: string): Promise<EventTimes[]> {
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
  const socket = new WebSocket(`${url.replace(/^http/u, 'ws')}/v1/live`, { headers });
  const opened = new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => {
      socket.send(JSON.stringify({ op: 'open', channel: 1, topic: { kind: 'run', run } }));
      resolve();
    });
  });
  socket.on('message', (data: Buffer) => {
    const place = told === undefined ? undefined : PLACE.exec(data.toString('latin1', 0, PLACE_BYTES_MAX))?.groups;
    if (place !== undefined) told?.set(Number(place['place']), performance.now());
  });
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
