import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { importUfo } from '#libs/constellation';
import { renderExport } from '#libs/audit';
import { parseRequestText } from '../requests/request-file.js';
import { commitsOf } from '../../sources/run-history.js';
import { fakeTerminal } from '../../testing/fake-terminal.js';
import { sampleRecords, SAMPLE_RUN } from '../../testing/sample-run.js';
import type { CliContext } from '../../terminal/terminal.js';
import { exportAsUfo, ufoFrom } from './export.runner.js';

const commits = commitsOf(SAMPLE_RUN, sampleRecords());
const first = commits.slice(0, 1);

describe('a run in the form of UFO', () => {
  it('has what became of its tasks and lines', () => {
    expect(ufoFrom(SAMPLE_RUN, commits)).toMatchObject({
      constellation_id: SAMPLE_RUN,
      name: 'sample',
      state: 'completed',
      tasks: {
        a: { status: 'completed', result: expect.anything(), dependents: ['b'] },
        b: { status: 'completed', dependencies: ['a'] },
      },
      dependencies: { l1: { from_task_id: 'a', to_task_id: 'b', is_satisfied: true } },
    });
    expect(ufoFrom(SAMPLE_RUN, first)).toMatchObject({
      state: 'executing',
      tasks: { a: { status: 'running', result: null }, b: { status: 'pending' } },
      dependencies: { l1: { is_satisfied: false, last_evaluation_result: null } },
    });
  });

  it('gives the plan of the run when it is read again', () => {
    const [requested] = commits[0]?.events ?? [];
    const plan = requested?.type === 'RUN_REQUESTED' ? requested.data.constellation : undefined;
    expect(importUfo(JSON.parse(JSON.stringify(ufoFrom(SAMPLE_RUN, commits))))).toEqual({
      ok: true,
      constellation: plan,
      asked: { options: {}, metadata: {} },
    });
  });

  it('does not exist for a run that nobody knows, nor before there is a constellation', () => {
    expect(() => ufoFrom('nobody', [])).toThrow(/There is no run nobody/u);
    const planning = first.map((commit) => ({ ...commit, events: commit.events.slice(0, 1) }));
    expect(() => ufoFrom(SAMPLE_RUN, planning)).toThrow(/has no constellation yet/u);
  });
});

describe('exportAsUfo', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-export-'));
    await writeFile(join(directory, 'run.jsonl'), renderExport(sampleRecords()));
  });
  afterAll(async () => rm(directory, { recursive: true, force: true }));

  const exported = async (file?: string, json = false) => {
    const terminal = fakeTerminal();
    const context: CliContext = { terminal, env: {}, json, now: () => 0, signal: new AbortController().signal };
    expect(await exportAsUfo(context, join(directory, 'run.jsonl'), file)).toBe(0);
    return terminal.outLines;
  };

  it('writes to standard output or to a file what submit takes', async () => {
    const file = join(directory, 'plan.json');
    const out = await exported();
    expect(await exported(file)).toEqual([`constellation of run ${SAMPLE_RUN} written to ${file}`]);
    const text = await readFile(file, 'utf8');
    expect(text).toBe(`${out.join('\n')}\n`);
    expect(parseRequestText(text, 'again')).toMatchObject({ ok: true, bare: true, request: { requestId: 'again' } });
    expect(await exported(file, true)).toEqual([JSON.stringify({ runId: SAMPLE_RUN, file })]);
  });
});
