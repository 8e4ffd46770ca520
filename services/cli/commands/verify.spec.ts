import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { subjects } from '#proto';
import { forkHistory, generateEditedHistory, runCommitsOf, type HistoryStep } from '#libs/testing';
import { renderExport, type ExportRecord } from '../audit/export-file.js';
import { runProgram } from '../run-program.js';
import { fakeTerminal, surroundings } from '../testing/fake-terminal.js';

const parent = generateEditedHistory({ seed: 4 });
const fork = forkHistory(parent, { at: 12, seed: 1 });
const [parentId, forkId] = [parent, fork].map((steps) => runCommitsOf(steps)[0]?.runId ?? '');

let directory = '';
const file = (name: string): string => join(directory, name);

function recordsOf(steps: readonly HistoryStep[], from: number): ExportRecord[] {
  return steps.map((step, index): ExportRecord => {
    const sequence = from + index;
    if (step.kind === 'run') {
      return { stream: 'RUNS', subject: subjects.run(step.commit.runId), sequence, commit: step.commit };
    }
    if (step.kind === 'plan') {
      return { stream: 'PLANS', subject: subjects.plan(step.commit.runId), sequence, commit: step.commit };
    }
    return { stream: 'ATTEMPTS', subject: subjects.attempt(step.commit, step.subject), sequence, commit: step.commit };
  });
}

async function verify(name: string) {
  const terminal = fakeTerminal();
  const exitCode = await runProgram(['verify', file(name)], surroundings(terminal, { ORRERY_HOME: file('home') }));
  return { exitCode, out: terminal.outLines };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-verify-'));
  const [parents, forks] = [recordsOf(parent, 1), recordsOf(fork, 1_000)];
  await writeFile(file('both.jsonl'), renderExport([...parents, ...forks]));
  await writeFile(file('alone.jsonl'), renderExport(forks));
  const [first, ...rest] = structuredClone(parents);
  Object.assign(first?.commit as object, { at: '2026-01-01T09:00:00.000Z' });
  await writeFile(file('changed.jsonl'), renderExport([...(first === undefined ? [] : [first]), ...rest, ...forks]));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('verify of a forked run', () => {
  it('compares it with its parent when the file has both', async () => {
    const { exitCode, out } = await verify('both.jsonl');
    expect([exitCode, out.length]).toEqual([0, 3]);
    expect(out[0]).toContain(`ok  ${parentId}`);
    expect(out[1]).toContain(`ok  ${forkId}`);
  });

  it('says what it could not check when the parent is not in the file', async () => {
    const { exitCode, out } = await verify('alone.jsonl');
    expect(exitCode).toBe(0);
    expect(out[1]).toMatch(new RegExp(`forked from event \\d+ of run ${parentId}, which is not there`, 'u'));
  });

  it('blames both when the history of the parent was changed', async () => {
    const { exitCode, out } = await verify('changed.jsonl');
    expect(exitCode).toBe(1);
    expect(out.join('\n')).toContain(`run ${parentId}, RUNS commit 1: its hash is not the hash of its content`);
    expect(out.join('\n')).toMatch(
      new RegExp(`run ${forkId}, RUNS commit 1: the history of its parent, run ${parentId}, was changed`, 'u'),
    );
  });
});
