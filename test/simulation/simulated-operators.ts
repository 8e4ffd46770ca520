import type { Actor, RunId } from '#proto';
import { forkedFrom, hasPlan, type Input, isTerminal, type Run } from '#libs/constellation';
import { runIdOf } from '#libs/event-log';
import { IMAGINED } from '../../libs/constellation/testing/trust.js';
import type { FaultKind, Faults } from './faults.js';
import { proposalOf } from './proposals.js';
import type { Dice } from './random.js';
import type { Bus } from './simulated-bus.js';
import type { WorldAudit } from './world-audit.js';

const OPERATOR: Actor = { kind: 'person', id: 'ops' };

type Action = Extract<Input, { kind: 'verb' }>['action'];

export interface OperatorParts {
  readonly faults: Faults;
  readonly bus: Bus;
  readonly devices: readonly string[];
  readonly audit: WorldAudit;
}

/** People who interfere: each verb has an id, and comes as often as the bus brings it. */
export class Operators {
  readonly #parts: OperatorParts;
  #verbs = 0;

  constructor(parts: OperatorParts) {
    this.#parts = parts;
  }

  get #runs(): Run[] {
    return [...this.#parts.audit.runs.values()].flatMap(({ run }) => run ?? []);
  }

  tick(): void {
    const going = this.#runs.filter((run) => !isTerminal(run));
    this.#perhaps('operator-cancel', going, () => ({ verb: 'CANCEL', reason: 'enough' }));
    this.#perhaps('operator-pause', going, ({ phase }) =>
      phase === 'PAUSED' ? { verb: 'RESUME' } : { verb: 'PAUSE' },
    );
    this.#perhaps('operator-retry', this.#runs, (run, dice) => ({ verb: 'RETRY', taskId: taskOf(run, dice) }));
    const { devices } = this.#parts;
    this.#perhaps('operator-edit', going, (run, dice) => {
      const manner = dice.chance(0.7) ? 'good' : 'garbage';
      const asked = { run, editId: `by-${this.#verbs}`, try: 1, devices };
      const proposal = { ...proposalOf(manner, asked, dice), editId: null, state: 'CONTINUE' } as const;
      const delegated = dice.chance(0.3);
      return { verb: 'PROPOSE', proposal: delegated ? { ...proposal, trace: IMAGINED } : proposal, delegated };
    });
    for (const run of going) if (run.waitsFor !== null) this.#accept(run);
    const planned = this.#runs.filter((run) => hasPlan(run) && run.parent === null);
    const fork = planned.length > 0 ? this.#parts.faults.strike('operator-fork', 'a run') : undefined;
    if (fork !== undefined) this.#fork(fork.pick(planned), fork);
  }

  #accept(run: Run): void {
    if (this.#parts.faults.strike('operator-hesitates', `the plan of ${run.runId.slice(0, 6)}`) !== undefined) return;
    this.#send(run.runId, { verb: 'RESUME' });
  }

  /** Whoever paused a run lets it go on. */
  resumeAll(): void {
    for (const run of this.#runs) if (run.phase === 'PAUSED') this.#send(run.runId, { verb: 'RESUME' });
  }

  #perhaps(kind: FaultKind, runs: readonly Run[], actionOf: (run: Run, dice: Dice) => Action): void {
    if (runs.length === 0) return;
    const dice = this.#parts.faults.strike(kind, 'a run');
    if (dice === undefined) return;
    const run = dice.pick(runs);
    this.#send(run.runId, actionOf(run, dice));
  }

  #send(runId: RunId, action: Action): void {
    const id = `verb-${++this.#verbs}`;
    const input = { kind: 'verb', id, by: OPERATOR, action } as const;
    const about = `${action.verb} ${id} for ${runId.slice(0, 6)}`;
    const bytes = JSON.stringify(action).length;
    const read = () => ({ input, cause: { kind: 'verb', id } as const, bytes });
    this.#parts.bus.publish({ stream: 'VERBS', runId, about, read });
  }

  #fork(run: Run, dice: Dice): void {
    const id = `fork-${++this.#verbs}`;
    const states =
      this.#parts.audit.runs.get(run.runId)?.folds.filter((state) => state !== undefined && hasPlan(state)) ?? [];
    const origin = dice.pick(states) ?? run;
    const runId = runIdOf(`fork:${run.runId}`, id);
    const read = (now: number) => {
      const forked = forkedFrom({ run: origin, by: OPERATOR, requestId: id, now });
      return { input: { kind: 'fork', id, forked } as const, cause: { kind: 'verb', id } as const, bytes: 5_000 };
    };
    const about = `FORK ${id} of ${run.runId.slice(0, 6)} at ${origin.sequence} to ${runId.slice(0, 6)}`;
    this.#parts.bus.publish({ stream: 'VERBS', runId, about, read });
  }
}

/** Rather one that did not succeed. */
function taskOf(run: Run, dice: Dice): string {
  const ids = (statuses: readonly string[]) =>
    [...run.tasks].filter(({ status }) => statuses.includes(status)).map(({ star }) => star.id);
  const failed = ids(['FAILED', 'SKIPPED', 'CANCELLED', 'RUNNING']);
  const some = failed.length > 0 && dice.chance(0.8) ? failed : ids(['PENDING', 'COMPLETED']);
  return some.length > 0 ? dice.pick(some) : 'nobody';
}
