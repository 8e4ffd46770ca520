import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as during } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { disturbed, expectUndisturbed, fetched, lacking, plan, signal, untilListed } from '../e2e/outages.js';
import { sendRequest, writeRequest } from '../e2e/requests.js';
import { TestSystem, until } from '../e2e/system.js';
import { say, scaled } from './load-system.js';

/*
 * Parts of a system that are away for long, as docs/reliability.md tells: what people are told meanwhile, and how soon it goes on. What is
 * killed stays away, because who would start it again is frozen for as long.
 */

const MINUTE_MS = scaled(60_000, 4_000);
const BUS_MS = scaled(30_000, 4_000);
const DATABASE_MS = scaled(300_000, 4_000);
/** Who asks by HTTP has given up by then. */
const HTTP_LIMIT_MS = 20_000;
const SERVICES = ['orchestrator', 'device-agent', 'aip-gateway', 'registry', 'planner', 'logging', 'console'] as const;

interface Outage {
  readonly parts: readonly string[];
  readonly how: 'killed' | 'frozen';
  readonly forMs: number;
}

const away = (how: Outage['how'], forMs: number, ...parts: readonly string[]): Outage => ({ parts, how, forMs });
const OUTAGES: readonly Outage[] = [
  away('killed', BUS_MS, 'nats'),
  away('frozen', BUS_MS, 'nats'),
  away('killed', DATABASE_MS, 'postgres'),
  ...SERVICES.map((service) => away('killed', MINUTE_MS, service)),
  ...SERVICES.map((service) => away('frozen', MINUTE_MS, service)),
  away('killed', MINUTE_MS, 'orchestrator', 'device-agent'),
  away('killed', MINUTE_MS, 'aip-gateway', 'registry'),
  away('killed', MINUTE_MS, 'logging', 'planner', 'console'),
  away('killed', BUS_MS, 'nats', 'postgres'),
];

/** What somebody who asked was told: an exit code or a status, the words, and after how long. */
interface Told {
  readonly code: number;
  readonly words: string;
  readonly seconds: number;
}

interface Row {
  readonly away: string;
  readonly told: Readonly<Record<string, Told>>;
  /** From the return to the end of a run that was asked for then. */
  readonly onAfterS: number;
}

let system: TestSystem;
const rows: Row[] = [];

beforeAll(async () => {
  system = await TestSystem.start('--devices', '2');
});
afterAll(async () => {
  for (const row of rows) say(row.away, factsOf(row));
  await system.stop();
});

describe('parts that are away for long', () => {
  it.each(OUTAGES)('$parts, $how: runs end as if nothing had happened, and whoever asks is told', async (outage) => {
    const name = `${outage.parts.join(' and ')} ${outage.how}`;
    const meanwhile = { requestId: `${name.replaceAll(' ', '-')}-meanwhile`, constellation: plan('/dev/null') };
    let told: Readonly<Record<string, Told>> = {};
    let onAfterS = 0;
    const view = await disturbed(system, name, async () => {
      const comeBack = await goAway(outage);
      [told] = await Promise.all([everybodyAsks(meanwhile), during(outage.forMs)]);
      await comeBack();
      const returned = performance.now();
      const after = { requestId: `${name.replaceAll(' ', '-')}-after`, constellation: plan('/dev/null') };
      expectUndisturbed(await system.untilEnd(await sendRequest(system, after)));
      onAfterS = secondsSince(returned);
    });
    rows.push({ away: name, told, onAfterS });
    // Whether it was taken or not: the same again is one run.
    const taken = await sendRequest(system, meanwhile);
    expectUndisturbed(await system.untilEnd(taken));
    await untilListed(system, view);
    await until('every service to be ready', async () => ((await lacking(system)).length === 0 ? true : undefined));
    const { submit, runs, devices, 'POST /v1/requests': post, 'GET /v1/runs': get } = told;
    for (const asked of [submit, runs, devices]) expect([0, 4]).toContain(asked?.code);
    const isConsoleThere = !outage.parts.includes('console');
    for (const asked of [post, get]) expect(isConsoleThere ? [200, 202, 503] : [0]).toContain(asked?.code);
  });

  it('left a log that is verified from end to end', async () => {
    expect(await system.json('verify', '--all')).toMatchObject({ ok: true });
  });
});

/** Gives back what ends the outage. */
async function goAway({ parts, how }: Outage): Promise<() => Promise<void>> {
  if (how === 'frozen') {
    await signal(system, parts, 'SIGSTOP');
    return () => signal(system, parts, 'SIGCONT');
  }
  const before = await system.pids();
  const { pid } = JSON.parse(await readFile(join(system.home, 'supervisor.lock'), 'utf8')) as { pid: number };
  process.kill(pid, 'SIGSTOP');
  for (const part of parts) process.kill(before[part] ?? Number.NaN, 'SIGKILL');
  return async () => void process.kill(pid, 'SIGCONT');
}

async function everybodyAsks(request: { requestId: string; constellation: object }): Promise<Record<string, Told>> {
  const file = await writeRequest(system.home, request);
  const byHttp = { ...request, requestId: `${request.requestId}-http` };
  const asked = {
    submit: byCli('submit', '-f', file),
    runs: byCli('runs', '--limit', '1'),
    devices: byCli('devices'),
    'POST /v1/requests': byConsole('/v1/requests', byHttp),
    'GET /v1/runs': byConsole('/v1/runs?limit=1'),
  };
  const answers = await Promise.all(Object.entries(asked).map(async ([what, answer]) => [what, await answer] as const));
  // Last: what a probe saw in the last half second is told again.
  return { ...Object.fromEntries(answers), 'GET /readyz': await byProbe() };
}

async function byCli(...words: readonly string[]): Promise<Told> {
  const begun = performance.now();
  const { code, stderr } = await system.cli(...words);
  return { code, words: stderr.trim().split('\n').at(-1) ?? '', seconds: secondsSince(begun) };
}

/** Status 0: no answer. */
async function byConsole(path: string, request?: object): Promise<Told> {
  const begun = performance.now();
  try {
    const answer = await fetched(system, path, { request, limit: AbortSignal.timeout(HTTP_LIMIT_MS) });
    const { error } = (await answer.json()) as { error?: { code: string; message: string } };
    return { code: answer.status, words: error ? `${error.code}: ${error.message}` : '', seconds: secondsSince(begun) };
  } catch (error) {
    return { code: 0, words: String(error), seconds: secondsSince(begun) };
  }
}

/** How many services are not ready, and what for. */
async function byProbe(): Promise<Told> {
  const begun = performance.now();
  const lacks = await lacking(system);
  return { code: lacks.length, words: lacks.join('; '), seconds: secondsSince(begun) };
}

const secondsSince = (begun: number): number => (performance.now() - begun) / 1_000;

function factsOf({ told, onAfterS }: Row): string {
  const answers = Object.entries(told).map(
    ([who, { code, words, seconds }]) => `\n  ${who}: ${code} after ${seconds.toFixed(1)} s ${words}`,
  );
  return `goes on after ${onAfterS.toFixed(1)} s${answers.join('')}`;
}
