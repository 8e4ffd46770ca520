import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  Actor,
  Budget,
  Edit,
  EditId,
  EditTrigger,
  EditViolation,
  Instant,
  PLAN_EVENT_TYPES,
  PlannerState,
  PlanSource,
  RunId,
  RunView,
  subjects,
  Target,
  TaskConstellation,
} from '#proto';
import { runCommitsOf } from '#libs/testing';
import { renderExport, type ExportRecord } from '#libs/audit';
import { runProgram } from '../../run-program.js';
import { edited } from '../../testing/edited-run.js';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';

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

/** What `plan --json` prints (docs/planning.md). A field that is new is added here; none is taken away. */
const JudgedProposal = z.strictObject({
  try: z.int().min(1),
  proposedAt: Instant.nullable(),
  source: PlanSource.nullable(),
  state: PlannerState.nullable(),
  edits: z.array(Edit).nullable(),
  spare: z.array(Target),
  fate: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('accepted'), revision: z.int(), at: Instant }),
      z.strictObject({
        kind: z.literal('refused'),
        revision: z.int(),
        violations: z.array(EditViolation).min(1),
        at: Instant,
      }),
      z.strictObject({ kind: z.literal('unused') }),
    ])
    .nullable(),
});
const PlanDocument = z.strictObject({
  runId: RunId,
  status: RunView.shape.status,
  state: z.string(),
  revision: z.int(),
  constellation: TaskConstellation.nullable(),
  scope: z.array(Target).nullable(),
  reach: z
    .strictObject({
      enrolled: z.int(),
      selectors: z.array(
        z.strictObject({
          target: Target,
          devices: z.int(),
          unknown: z.int(),
          all: z.boolean(),
          tasks: z.array(z.string()),
        }),
      ),
    })
    .nullable(),
  steps: z.array(z.looseObject({ at: Instant, type: z.enum(PLAN_EVENT_TYPES), data: z.looseObject({}) })),
  rounds: z.array(
    z.strictObject({
      editId: EditId,
      mode: z.enum(['creation', 'editing']),
      triggers: z.array(EditTrigger).min(1),
      revision: z.int(),
      budget: Budget.nullable(),
      openedAt: Instant,
      deadlineAt: Instant,
      proposals: z.array(JudgedProposal),
      end: z
        .discriminatedUnion('kind', [
          z.strictObject({ kind: z.literal('accepted'), try: z.int(), revision: z.int(), at: Instant }),
          z.strictObject({ kind: z.literal('given_up'), code: z.string(), message: z.string(), at: Instant }),
        ])
        .nullable(),
    }),
  ),
  otherEdits: z.array(z.strictObject({ revision: z.int(), by: Actor.nullable(), edits: z.array(Edit), at: Instant })),
});

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

  it('has the form that is documented', async () => {
    const { out } = await orrery('plan', file(), '--json');
    const told = PlanDocument.parse(JSON.parse(out));
    expect(told.steps.map(({ type }) => type)).toEqual([
      'ROUND_PLANNED',
      'PLAN_PROPOSED',
      'ROUND_PLANNED',
      'PLAN_PROPOSED',
    ]);
    expect(told.rounds[0]?.proposals.map(({ fate }) => fate?.kind)).toEqual(['refused', 'accepted']);
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
