import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { subjects } from '#proto';
import { forkHistory, generateEditedHistory, runCommitsOf, type HistoryStep } from '#libs/testing';
import { renderExport, type ExportRecord } from '#libs/audit';
import { runProgram } from '../../run-program.js';
import { sampleEvents, sealAttempt, sealRun } from '../../testing/sample-run.js';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';

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

async function verify(name: string, ...more: string[]) {
  const terminal = fakeTerminal();
  const words = ['verify', file(name), ...more];
  const exitCode = await runProgram(words, surroundings(terminal, { ORRERY_HOME: file('home') }));
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
    expect([exitCode, out.length]).toEqual([0, 5]);
    expect(out[0]).toContain(`ok  ${parentId}`);
    expect(out[2]).toContain(`ok  ${forkId}`);
    expect(out[4]).toBe('2 runs consistent');
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

describe('verify of a file that its writer forged', () => {
  const [a, b] = [sealAttempt('a', 'a', 5), sealAttempt('b', 'b', 6)];
  const events = sampleEvents({ a: a.hash, b: b.hash });
  const honest = [...sealRun(events), a.record, b.record];
  const heads = honest.slice(0, events.length).map(({ commit }) => (commit as { hash: string }).hash);
  const whole = heads.at(-1) ?? '';
  // Whoever can write a file can make its chains fit again.
  const text = JSON.stringify(events).replaceAll('"operator"', '"somebody-else"');
  const rewritten = renderExport([...sealRun(JSON.parse(text) as typeof events), a.record, b.record]);
  const shortened = renderExport([...sealRun(events.slice(0, -1)), a.record, b.record]);
  const told = async (name: string, content: string, ...more: string[]) => {
    await writeFile(file(name), content);
    return verify(name, ...more);
  };

  it('says no more than that it is consistent, and what would show more', async () => {
    expect(rewritten).toContain('somebody-else');
    for (const content of [rewritten, shortened, renderExport(honest)]) {
      const { exitCode, out } = await told('forged.jsonl', content);
      expect([exitCode, out.length]).toEqual([0, 2]);
      expect(out[1]).toContain('who wrote it, and whether its end is missing, it cannot show');
      expect(out[1]).toContain('--head <hash>');
    }
  });

  it('finds both with a hash that somebody kept', async () => {
    for (const content of [rewritten, shortened]) {
      const { exitCode, out } = await told('forged.jsonl', content, '--head', whole);
      expect(exitCode).toBe(1);
      expect(out.join('\n')).toContain(
        `no commit has the hash ${whole}: this is another history, or its end is missing`,
      );
    }
  });

  it('says up to where it is the history that somebody knows', async () => {
    const known = await told('honest.jsonl', renderExport(honest), '--head', whole);
    expect([known.exitCode, known.out[1]]).toEqual([
      0,
      `    commit ${heads.length} of ${heads.length} has the hash that you know`,
    ]);
    const earlier = await verify('honest.jsonl', '--head', heads[0] ?? '');
    expect(earlier.exitCode).toBe(0);
    expect(earlier.out[1]).toContain(
      `commit 1 of ${heads.length} has the hash that you know; the ${heads.length - 1} after it are consistent, no more`,
    );
    expect((await verify('honest.jsonl', '--head', 'short')).exitCode).toBe(3);
    expect((await verify('both.jsonl', '--head', whole)).exitCode).toBe(3);
  });
});
