import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { mountSmallDisk } from '#libs/testing';

interface Run {
  readonly suite: string;
}

interface Suites {
  readonly ownName: (pid?: number) => string;
  readonly sweep: (directory: string, name: string) => void;
  readonly lanesOf: (runs: readonly Run[], bytes: number) => readonly (readonly (readonly Run[])[])[];
  readonly Turns: new (
    names: readonly string[],
    write: (stream: string, chunk: string) => void,
  ) => { say(name: string, stream: string, chunk: string): void; end(name: string): void };
}

const PLENTY = 16 * 2 ** 30;
const LOOK_MS = 20;
let suites: Suites;

beforeAll(async () => {
  suites = (await import(pathToFileURL(resolve(import.meta.dirname, '../../tools/suites.mjs')).href)) as Suites;
});

const lanes = (names: string, bytes = PLENTY): string =>
  suites
    .lanesOf(
      names.split(' ').map((suite) => ({ suite })),
      bytes,
    )
    .map((together) => together.map((lane) => lane.map(({ suite }) => suite).join(' ')).join(' | '))
    .join(', then ');

it('tells the ten files that cost most, dearest first, and nothing when nobody has kept what they cost', async () => {
  const costs = (await import(pathToFileURL(resolve(import.meta.dirname, '../../tools/specs/costs.mjs')).href)) as {
    readonly keepCost: (spec: string, seconds: number | undefined, file: string) => void;
    readonly dearestOf: (file: string, root: string) => string | undefined;
    readonly secondsOfAll: (file: string) => number;
  };
  const folder = mkdtempSync(join(tmpdir(), 'orrery-costs-'));
  const file = join(folder, 'int.json.costs');
  try {
    expect([costs.dearestOf(file, '/here'), costs.secondsOfAll(file)]).toEqual([undefined, 0]);
    for (let seconds = 1; seconds <= 12; seconds++) costs.keepCost(`/here/test/${seconds}.spec.ts`, seconds, file);
    costs.keepCost('/here/test/unknown.spec.ts', undefined, file);
    costs.keepCost('/elsewhere/test/a.spec.ts', 99, file);
    expect(costs.secondsOfAll(file)).toBe((12 * 13) / 2 + 99);
    const told = costs.dearestOf(file, '/here')?.split(', ') ?? [];
    expect([told.length, told[0], told.at(-1)]).toEqual([10, '12 s test/12.spec.ts', '3 s test/3.spec.ts']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('counts what nobody waits for, where the kernel has control groups and lets us make one', async () => {
  const { groupOf } = (await import(
    pathToFileURL(resolve(import.meta.dirname, '../../tools/specs/group.mjs')).href
  )) as {
    readonly groupOf: (
      suite: string,
      pid: number | undefined,
      isAlive: (pid: number) => boolean,
    ) => { readonly seconds: () => number; readonly end: () => boolean } | undefined;
  };
  const left = 'n=0; while [ $n -lt 100000 ]; do n=$((n + 1)); done';
  const child = spawn('sh', ['-c', `read go; sh -c '${left}' & exit 0`], { stdio: ['pipe', 'pipe', 'ignore'] });
  const [exited, closed] = [once(child, 'exit'), once(child, 'close')];
  const group = groupOf('spec', child.pid, () => true);
  child.stdout.resume();
  child.stdin.end('go\n');
  await exited;
  // Whoever it has left holds the other end until its work is done.
  await closed;
  expect(group?.seconds() ?? 1).toBeGreaterThan(0.02);
  while (group?.end() === false) await sleep(LOOK_MS);
});

describe('suites run', () => {
  it('beside each other where one kind waits and the other calculates', () => {
    expect(lanes('unit model+sim+fuzz int e2e')).toBe('unit model+sim+fuzz | e2e int');
    expect(lanes('unit')).toBe('unit');
    expect(lanes('int e2e')).toBe('e2e int');
  });

  it('one after the other where memory is short', () => {
    expect(lanes('unit int', 4 * 2 ** 30)).toBe('unit, then int');
  });

  it('alone where they measure or build images, and after the others', () => {
    expect(lanes('unit int containers load')).toBe('unit | int, then containers, then load');
  });
});

describe('what suites say', () => {
  it('comes one suite after the other, at once from the one whose turn it is', () => {
    const heard: string[] = [];
    const turns = new suites.Turns(['unit', 'e2e', 'int'], (stream, chunk) => heard.push(`${stream} ${chunk}`));
    turns.say('unit', 'stderr', '1');
    turns.say('e2e', 'stdout', '3');
    turns.end('e2e');
    turns.say('unit', 'stdout', '2');
    turns.say('int', 'stderr', '4');
    expect(heard).toEqual(['stderr 1', 'stdout 2']);
    turns.end('unit');
    turns.say('int', 'stderr', '5');
    turns.end('int');
    expect(heard).toEqual(['stderr 1', 'stdout 2', 'stdout 3', 'stderr 4', 'stderr 5']);
  });
});

it('removes what runs that were killed have left in memory with their disks, and nothing of anybody else', () => {
  const memory = mkdtempSync(join(tmpdir(), 'orrery-memory-'));
  try {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    const own = suites.ownName();
    const [dead, here] = [`${suites.ownName(pid)}-abc123`, `${own}-def456`];
    const elsewhere = dead.replace(/^orrery-test-\w+-/u, 'orrery-test-1-');
    const others = [here, elsewhere, 'orrery-test-abc123', `orrery-other-${pid}-abc123`, `orrery-test-${pid}`];
    for (const name of [dead, ...others]) mkdirSync(join(memory, name, 'nats'), { recursive: true });
    mountSmallDisk(join(memory, dead, 'nats'), { mib: 1 });
    writeFileSync(join(memory, dead, 'nats/stream'), 'left');
    suites.sweep(memory, own);
    expect(readdirSync(memory).toSorted()).toEqual(others.toSorted());
  } finally {
    rmSync(memory, { recursive: true, force: true });
  }
});
