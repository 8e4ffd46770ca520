import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { RunRequest } from '#proto';
import {
  auditOf,
  commitsOfRun,
  fleetHistory,
  foldOfFleet,
  foldOfRun,
  HISTORIES,
  recordedVersions,
  runHistories,
} from './history-folder.js';

/* What earlier versions stored means to this one what it meant to them. A golden fold is never written anew: whoever breaks one mends the cause. */

/** Fewer would mean that somebody has thrown a history away. */
const RUNS_MIN: Readonly<Record<string, number>> = { '0.1.0': 70 };

it('there are histories of every version that was let out', () => {
  expect(recordedVersions()).toEqual(Object.keys(RUNS_MIN));
});

describe.each(recordedVersions())('version %s', (version) => {
  const histories = runHistories(version);
  const all = histories.map(({ lines }) => lines);

  it('has left its histories', () => {
    expect(histories.length).toBeGreaterThanOrEqual(RUNS_MIN[version] ?? 1);
  });

  it.each(histories.map((history) => [history.name, history] as const))('%s', (_, { lines, golden }) => {
    expect(auditOf(lines, all)).toMatchObject({ ok: true, findings: [], unchecked: [] });
    expect(foldOfRun(lines)).toBe(golden);
  });

  it('has a fleet that is what it was', () => {
    const { lines, golden } = fleetHistory(version);
    expect(foldOfFleet(lines)).toBe(golden);
  });

  it('sent requests that can be sent again', () => {
    const text = readFileSync(join(HISTORIES, version, 'requests.json'), 'utf8');
    const requests = Object.entries(JSON.parse(text) as Record<string, string>);
    expect(requests.length).toBeGreaterThan(0);
    for (const [name, request] of requests) {
      expect([name, RunRequest.safeParse(JSON.parse(request)).error]).toEqual([name, undefined]);
    }
  });

  it('would be noticed if one of its messages were changed', () => {
    const changed = histories.find(({ name }) => name === 'succeeded');
    const lines = (changed?.lines ?? []).map((line) => ({ ...line, text: line.text.replace('"echo', '"Echo') }));
    expect(() => commitsOfRun(lines)).toThrow(/hash/u);
  });
});
