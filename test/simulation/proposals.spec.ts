import { describe, expect, it } from '@jest/globals';
import { Proposal } from '#proto';
import { applyEdits, emptyRun, foldEvents, type Run } from '#libs/constellation';
import { checkSubmission, requestedOf } from '../../services/orchestrator/inputs/submission.js';
import { type Manner, proposalOf } from './proposals.js';
import { Dice } from './random.js';
import { START_MS } from './scheduler.js';

const AT = new Date(START_MS).toISOString();
const DEVICES = ['dev-1', 'dev-2'];

/** a runs on dev-1, b and c wait for it. */
function running(): Run {
  const command = { tool: 'EXEC_CLI', arguments: {} };
  const tasks = ['ta', 'tb', 'tc'].map((id) => ({ id, name: id, target: { device: 'dev-1' }, command }));
  const lines = ['tb', 'tc'].map((to) => ({ id: `l-${to}`, from: 'ta', to }));
  const request = { requestId: 'r', constellation: { name: 'plan', tasks, lines } };
  const submission = checkSubmission(request, 'default', 100);
  if (!submission.ok) throw new Error(submission.refusal.message);
  const started = {
    taskId: 'ta',
    attempt: 1,
    deviceId: 'dev-1',
    sessionId: 's',
    journalId: 'j',
    command,
    inputs: [],
    priority: 0,
    startedAt: AT,
    timeoutAt: AT,
  };
  return foldEvents(emptyRun('run-1'), [
    {
      type: 'RUN_REQUESTED',
      data: requestedOf(submission, { actor: { kind: 'external', id: 'x' }, trusted: true }, START_MS),
    },
    { type: 'CONSTELLATION_MODIFIED', data: { revision: 1, origin: 'request', tasks: 3, lines: 2, modifiedAt: AT } },
    { type: 'TASK_STARTED', data: started },
  ]);
}

function proposed(manner: Manner, seed: number) {
  return proposalOf(manner, { run: running(), editId: 'e1', try: 1, devices: DEVICES }, new Dice(seed));
}

const SEEDS = Array.from({ length: 40 }, (_, index) => index);

describe('a planner', () => {
  it('that is good proposes what can be applied', () => {
    for (const seed of SEEDS) {
      const proposal = proposed('good', seed);
      expect(Proposal.safeParse(proposal).success).toBe(true);
      expect(applyEdits(running(), proposal.edits, START_MS).ok).toBe(true);
    }
  });

  it.each([
    ['touches-running', ['I3_ONLY_PENDING']],
    ['removes-running', ['I3_ONLY_PENDING']],
    ['cycle', ['I2_ACYCLIC', 'I3_ONLY_PENDING']],
  ] as const)('that %s is refused', (manner, codes) => {
    for (const seed of SEEDS) {
      const applied = applyEdits(running(), proposed(manner, seed).edits, START_MS);
      const violations = applied.ok ? [] : applied.violations;
      expect(
        violations.map(({ code }) => code).filter((code) => (codes as readonly string[]).includes(code)),
      ).not.toEqual([]);
    }
  });

  it('that floods proposes ten thousand tasks', () => {
    const [edit] = proposed('floods', 1).edits;
    expect(edit?.tool === 'build_constellation' && edit.constellation.tasks.length).toBe(10_000);
  });

  it('proposes the same with the same dice', () => expect(proposed('garbage', 3)).toEqual(proposed('garbage', 3)));
});
