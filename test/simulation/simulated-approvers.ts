import type { Actor, RunCommit, RunEventData } from '#proto';
import type { Input } from '#libs/constellation';
import { Dice } from './random.js';
import type { Scheduler } from './scheduler.js';
import type { Bus } from './simulated-bus.js';

type Request = RunEventData<'APPROVAL_REQUESTED'>;
type Action = Extract<Input, { kind: 'verb' }>['action'];

const SPEAKS_SHARE = 0.8;
const CONTRADICTED_SHARE = 0.25;
const APPROVED_SHARE = 0.6;
const GRANTED_SHARE = 0.3;
const EDITED_SHARE = 0.15;
const THINKING_MS_MIN = 50;
const THINKING_MS_MAX = 120_000;
const GRANT_MS_MAX = 300_000;

export interface ApproverParts {
  readonly seed: number;
  readonly scheduler: Scheduler;
  readonly bus: Bus;
}

/** Persons who are asked: some speak, in time or not, some contradict one another, and some say nothing. */
export class Approvers {
  readonly #parts: ApproverParts;
  readonly #seen = new Set<string>();

  constructor(parts: ApproverParts) {
    this.#parts = parts;
  }

  follow({ runId, events }: RunCommit): void {
    for (const event of events) if (event.type === 'APPROVAL_REQUESTED') this.#asked(runId, event.data);
  }

  #asked(runId: string, { ask }: Request): void {
    const { seed, scheduler } = this.#parts;
    const { approvalId } = ask;
    if (this.#seen.has(approvalId)) return;
    this.#seen.add(approvalId);
    const dice = new Dice(seed, 'approver', approvalId);
    if (!dice.chance(SPEAKS_SHARE)) return;
    const say = (id: string) => {
      const action = actionOf(dice, ask);
      scheduler.after(dice.spread(THINKING_MS_MIN, THINKING_MS_MAX), () => this.#send(runId, { id, action }));
    };
    say('anna');
    if (dice.chance(CONTRADICTED_SHARE)) say('bert');
  }

  #send(runId: string, { id: person, action }: { readonly id: string; readonly action: Action }): void {
    if (!('approvalId' in action)) return;
    const by: Actor = { kind: 'person', id: person };
    const id = `${person} ${action.approvalId}`;
    const input = { kind: 'verb', id, by, action } as const;
    const read = () => ({ input, cause: { kind: 'verb', id } as const, bytes: 300 });
    this.#parts.bus.publish({ stream: 'VERBS', runId, about: `${action.verb} by ${id}`, read });
  }
}

function actionOf(dice: Dice, ask: Request['ask']): Action {
  const { approvalId } = ask;
  if (!dice.chance(APPROVED_SHARE)) return { verb: 'REJECT', approvalId };
  if (ask.kind === 'question') return { verb: 'ANSWER', approvalId, text: 'the second one' };
  const command = { tool: 'EXEC_CLI', arguments: { command: 'true' } };
  if (dice.chance(EDITED_SHARE)) return { verb: 'APPROVE', approvalId, command };
  const grantMs = Math.round(dice.spread(1_000, GRANT_MS_MAX));
  return { verb: 'APPROVE', approvalId, ...(dice.chance(GRANTED_SHARE) && { grantMs }) };
}
