import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { subjects } from '#proto';
import { runCommitsOf } from '#libs/testing';
import { renderExport, type ExportRecord } from '../audit/export-file.js';
import { runProgram } from '../run-program.js';
import { edited } from '../testing/edited-run.js';
import { fakeTerminal, surroundings } from '../testing/fake-terminal.js';

const { steps } = edited();
const runId = runCommitsOf(steps)[0]?.runId ?? '';

let directory = '';

async function orrery(...words: string[]) {
  const terminal = fakeTerminal();
  const exitCode = await runProgram(words, surroundings(terminal, { ORRERY_HOME: join(directory, 'home') }));
  return { exitCode, out: terminal.outLines.join('\n'), err: terminal.errLines.join('\n') };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-plan-'));
  const records = steps.flatMap((step, index): ExportRecord[] => {
    if (step.kind === 'attempt') return [];
    const at = { sequence: index + 1 };
    return step.kind === 'run'
      ? [{ ...at, stream: 'RUNS', subject: subjects.run(runId), commit: step.commit }]
      : [{ ...at, stream: 'PLANS', subject: subjects.plan(runId), commit: step.commit }];
  });
  await writeFile(join(directory, 'run.jsonl'), renderExport(records));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const file = (): string => join(directory, 'run.jsonl');

describe('plan of a file', () => {
  it('tells the rounds, the state of the planner and the plan as it stands', async () => {
    const { exitCode, out } = await orrery('plan', file());
    expect(exitCode).toBe(0);
    expect(out).toMatch(
      /e1 try 1 refused[\s\S]*e1 accepted: revision 2[\s\S]*^(CONTINUE|FINISH|FAIL): 1 round, 0 model calls$/mu,
    );
  });

  it('gives the same as JSON', async () => {
    const { out } = await orrery('plan', file(), '--json');
    expect(JSON.parse(out)).toMatchObject({
      runId,
      state: expect.stringMatching(/^(CONTINUE|FINISH|FAIL)$/u),
      constellation: { tasks: expect.any(Array) },
      steps: expect.arrayContaining([expect.objectContaining({ type: 'PLAN_PROPOSED' })]),
    });
  });
});

describe('diff of a file', () => {
  it('compares the first revision with the last one', async () => {
    const { exitCode, out } = await orrery('diff', file());
    expect([exitCode, out]).toEqual([0, expect.stringMatching(/^[-+~] /mu)]);
    expect((await orrery('diff', file(), '--to', '1')).out).toBe('no difference');
  });

  it('says which revision is the last one when another is asked for', async () => {
    const { exitCode, err } = await orrery('diff', file(), '--from', '77');
    expect([exitCode, err]).toEqual([3, expect.stringMatching(/has no revision 77; its last one is \d+\.$/mu)]);
  });
});
