import type { Actor, CommandCall } from '#proto';
import { sameJson } from '../values/index.js';
import type { GivenWord, OpenApproval } from './approval-state.js';
import { type Author, authorOf, sameActor } from './authors.js';
import type { Run } from './run.js';

/** Ids of the living persons who may approve at all; undefined: nobody knows. */
export type Approvers = readonly string[] | undefined;

/** How many different persons a command of an agent, or a plan, takes. */
export const neededOf = ({ request }: Pick<Run, 'request'>): number => request?.options.approvals ?? 1;

/** While there is one approver only, there is nobody else to ask. */
export function isSole({ kind, id }: Actor, approvers: Approvers): boolean {
  return kind === 'person' && approvers?.length === 1 && approvers[0] === id;
}

/**
 * The part of somebody in the run, for which he lets nothing run in it; undefined when he may. Where nobody knows who else may be asked,
 * only who asked for the run is kept from it.
 */
export function barredBy(run: Run, by: Actor, approvers: Approvers): Author | undefined {
  const author = authorOf(run, by);
  if (author === undefined || isSole(by, approvers)) return undefined;
  const isCore = author.part === 'requested' || author.part === 'forked';
  return approvers === undefined && !isCore ? undefined : author;
}

/** Whether the word of a person lets anything run in this run as things are: he may approve, and had no part in it. */
export function countsIn(run: Run, by: Actor, approvers: Approvers): boolean {
  if (by.kind !== 'person' || approvers?.includes(by.id) === false) return false;
  return barredBy(run, by, approvers) === undefined;
}

/** Who came up with a command that was not asked about: whoever said it first. */
export function editorOf(given: readonly GivenWord[], command: CommandCall | null): Actor | undefined {
  return command === null ? undefined : given.find((one) => sameCommand(one.command, command))?.by;
}

/** Persons who may still be asked about a command; undefined when nobody knows who may approve. */
export function eligible(run: Run, approvers: Approvers, editor?: Actor): string[] | undefined {
  return approvers?.filter((id) => {
    const person: Actor = { kind: 'person', id };
    if (!countsIn(run, person, approvers)) return false;
    return editor === undefined || !sameActor(editor, person) || isSole(person, approvers);
  });
}

/**
 * The words that let this command run, in the order in which they came: of each person the last one, and none of whoever had a part in
 * it. Words for different commands do not add up.
 */
export function tally(
  run: Run,
  given: readonly GivenWord[],
  { command, approvers }: { readonly command: CommandCall | null; readonly approvers: Approvers },
): GivenWord[] {
  const editor = editorOf(given, command);
  return given.filter(
    (one, at) =>
      sameCommand(one.command, command) &&
      !given.slice(at + 1).some(({ by }) => sameActor(by, one.by)) &&
      countsIn(run, one.by, approvers) &&
      (editor === undefined || !sameActor(editor, one.by) || isSole(one.by, approvers)),
  );
}

/** Of a plan that waits: the words for this revision of it that count, each person once. */
export function planTally(run: Run, approvers: Approvers): readonly Actor[] {
  const words = run.planWords.filter(({ by, revision }) => revision === run.revision && countsIn(run, by, approvers));
  return words.filter(({ by }, at) => words.findIndex((other) => sameActor(other.by, by)) === at).map(({ by }) => by);
}

/** `1 of 2, by anna`. */
export function countText(counted: readonly { readonly by: Actor }[], needed: number): string {
  const who = counted.map(({ by }) => by.id).join(', ');
  return `${counted.length} of ${needed}${who === '' ? '' : `, by ${who}`}`;
}

/** Of what is open and takes more than one word, how far it is; undefined where nobody has spoken and one is enough. */
export function progressText(run: Run, { given, ask, approvers }: OpenApproval): string | undefined {
  const needed = neededOf(run);
  if (ask.kind !== 'approval' || (needed === 1 && given.length === 0 && approvers === null)) return undefined;
  const variants = [null, ...given.map(({ command }) => command)];
  const tallies = variants.map((command) => tally(run, given, { command, approvers: undefined }));
  const best = tallies.reduce((most, one) => (one.length > most.length ? one : most), []);
  const edited = given.some(({ command }) => command !== null) ? ', another command is proposed' : '';
  const few = approvers === null ? '' : `, and ${approvers} ${approvers === 1 ? 'person' : 'persons'} could give one`;
  return `${countText(best, needed)}${edited}${few}`;
}

function sameCommand(one: CommandCall | null, other: CommandCall | null): boolean {
  return one === null || other === null ? one === other : sameJson(one, other);
}
