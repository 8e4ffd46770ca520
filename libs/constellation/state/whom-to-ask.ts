import type { Actor } from '#proto';
import { type Answer, refuse } from '../values/index.js';
import type { GivenWord } from './approval-state.js';
import { authorText, sameActor } from './authors.js';
import type { Run } from './run.js';
import { type Approvers, barredBy, eligible } from './tally.js';

/** What whoever approves his own is told. */
export const SELF_APPROVED =
  'you had a part in it and approved it yourself, which is recorded: there is one approver only';

interface Asking {
  readonly approvers: Approvers;
  /** Who wrote the command that is to be approved. */
  readonly editor?: Actor | undefined;
  /** Whose words there are already. */
  readonly given?: readonly Pick<GivenWord, 'by'>[];
}

/** `ask bert, carla`: who may approve in this run, and has not. */
export function whomToAsk(run: Run, { approvers, editor, given = [] }: Asking): string {
  const left = eligible(run, approvers, editor)?.filter((id) => !given.some(({ by }) => by.id === id));
  if (left === undefined) return 'another person has to approve it';
  if (left.length > 0) return `another person has to approve it: ask ${left.join(', ')}`;
  return 'another person has to approve it, and nobody is left who may: give somebody the role approver (orrery people role)';
}

/** The refusal for who approves what he had a part in; undefined for everybody else, and while there is nobody else. */
export function notForAuthors(
  run: Run,
  by: Actor,
  { approvers, what }: { readonly approvers: Approvers; readonly what: string },
): Answer | undefined {
  const author = barredBy(run, by, approvers);
  if (author === undefined) return undefined;
  const others = eligible(run, approvers)?.filter((id) => !sameActor(by, { kind: 'person', id }));
  const whom =
    others === undefined
      ? ''
      : others.length > 0
        ? `: ask ${others.join(', ')}`
        : ', and nobody is left who may: give somebody the role approver (orrery people role)';
  return refuse('UNAUTHORIZED', `${authorText(author)}; another person has to approve ${what}${whom}`);
}
