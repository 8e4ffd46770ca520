import { CONTROL_TOOLS, attemptOfCommand, fieldsOf, placeOfCommand, QUIET_TOOLS, WINDOW_TOOLS } from '#proto';
import type { CommandCall, CommandId, CommandOutcome, Json, RunCommandRequest, ScreenPlace } from '#proto';
import { withoutResult } from '#libs/aip';
import { LISTS } from './screen-door.js';

/** `look`: this listing comes first, and then the command is asked for again. */
export type GuestPassage =
  | { readonly kind: 'pass' }
  | { readonly kind: 'look'; readonly commandId: CommandId; readonly command: CommandCall }
  | { readonly kind: 'answer'; readonly outcome: CommandOutcome };

/** What a listing is of. */
type Of = 'windows' | 'controls';

interface Target {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly rect: string;
}

/** The listing whose ids a client has in hand. */
interface Listed {
  readonly attempt: string;
  /** As agents name listings of clients that name none: by where the command stands. */
  readonly snapshot: string;
  readonly command: CommandCall;
  readonly targets: readonly Target[];
}

/** A command before which the screen was looked at again, and what that has shown. */
interface Compared {
  readonly commandId: CommandId;
  readonly atMs: number;
  readonly problem: CommandOutcome | null;
}

/** Who approved may have thought for a quarter of an hour; who asks anew after this long is looked for again. */
const COMPARED_MS = 5_000;
const has = (names: readonly string[], tool: string): boolean => names.includes(tool);
/** They act on the screen as it is, and name no control. */
const BLIND: readonly string[] = [...CONTROL_TOOLS, 'tap', 'swipe', 'press_key', 'back'];

/**
 * Foreign clients act on whatever they have under an id by now, and compare nothing with what was seen. So it is compared before
 * anything is sent to one, with what it has listed last: another id, name or type is no command for it. After a person has approved
 * an act its screen is listed once more, and nothing is sent when what the act is about is not there as it was shown to him.
 *
 * Between that listing and the act it may change all the same: only the client itself could look and act in one.
 */
export class GuestLooks {
  readonly #newest = new Map<Of, Listed>();
  /** The listing that was sent for a command. */
  #looking: { readonly commandId: CommandId; readonly of: Of; readonly request: RunCommandRequest } | undefined;
  #compared: Compared | undefined;
  /** An id is sent once. */
  #looks = 0;

  judge(request: RunCommandRequest, nowMs: number): GuestPassage {
    const { command, commandId, judged } = request;
    const { on, tool } = command;
    const compared = this.#compared?.commandId === commandId ? this.#compared : undefined;
    if (compared?.problem) return answered(compared.problem);
    if (on === undefined || on.snapshot === '' || LISTS.has(tool)) return PASS;
    if (on.control === undefined && !has(BLIND, tool)) return PASS;
    const of: Of = has(WINDOW_TOOLS, tool) ? 'windows' : 'controls';
    const listed = this.#newest.get(of);
    if (listed?.snapshot !== on.snapshot || listed.attempt !== attemptIn(commandId)) return answered(OLD);
    const problem = controlProblem(listed.targets, on);
    if (problem !== null) return answered(problem);
    if (judged?.approvalId === undefined || has(QUIET_TOOLS, tool)) return PASS;
    if (compared !== undefined && nowMs - compared.atMs < COMPARED_MS) return PASS;
    const lookId = `${commandId}.look${(this.#looks += 1)}`;
    this.#looking = { commandId: lookId, of, request };
    return { kind: 'look', commandId: lookId, command: listed.command };
  }

  /** A command has ended at the client. True: it was a listing that was asked for here. */
  ended(
    { commandId, command }: { readonly commandId: CommandId; readonly command: CommandCall },
    outcome: CommandOutcome,
    nowMs: number,
  ): boolean {
    const isOwn = this.#looking?.commandId === commandId;
    if (isOwn) this.#lookedAgain(outcome, nowMs);
    else this.#noted(commandId, command, outcome);
    return isOwn;
  }

  #noted(commandId: CommandId, command: CommandCall, outcome: CommandOutcome): void {
    if (command.tool === 'select_application_window') this.#newest.delete('controls');
    const of = LISTS.get(command.tool);
    if (of === undefined) return;
    const place = placeOfCommand(commandId);
    // What it has under its ids after a listing that failed, nobody knows.
    this.#newest.delete(of);
    if (outcome.state !== 'COMPLETED' || place === undefined) return;
    const { listing } = fieldsOf(outcome.result);
    const named = typeof listing === 'string' && listing !== '' ? listing.slice(0, 64) : undefined;
    this.#newest.set(of, {
      attempt: attemptIn(commandId),
      snapshot: named ?? `${place.step}.${place.index}`,
      command,
      targets: targetsIn(outcome.result),
    });
  }

  #lookedAgain(outcome: CommandOutcome, nowMs: number): void {
    const looking = this.#looking;
    this.#looking = undefined;
    const before = looking && this.#newest.get(looking.of);
    if (looking === undefined || before === undefined) return;
    const { of, request } = looking;
    const targets = targetsIn(outcome.result);
    const isSame = outcome.state === 'COMPLETED' && isAsShown(before.targets, targets, request.command.on?.control?.id);
    this.#compared = { commandId: request.commandId, atMs: nowMs, problem: isSame ? null : CHANGED };
    if (isSame) this.#newest.set(of, { ...before, targets });
    else this.#newest.delete(of);
  }
}

const PASS: GuestPassage = { kind: 'pass' };
const answered = (outcome: CommandOutcome): GuestPassage => ({ kind: 'answer', outcome });
const refused = (code: string, message: string): CommandOutcome => withoutResult('FAILED', code, message);

/** Nothing was sent: the agent hears it as from the device, and looks again. */
const OLD = refused('WINDOW_CHANGED', 'this is not the newest listing of that screen: look again');
const CHANGED = refused(
  'WINDOW_CHANGED',
  'the screen is not as it was when a person was asked: look again, nothing was done',
);

function controlProblem(targets: readonly Target[], { control }: ScreenPlace): CommandOutcome | null {
  if (control === undefined) return null;
  const { id, name, type } = control;
  const target = targets.find((one) => one.id === id);
  if (target === undefined) return refused('NOT_FOUND', `nothing with the id ${JSON.stringify(id)} is listed`);
  if (target.name === name && target.type === type) return null;
  const is = `${target.type} ${JSON.stringify(target.name)}`;
  return refused('MISMATCH', `what is listed under the id ${JSON.stringify(id)} is ${is}`);
}

/** Of an act on one control that one counts; of one that only names a place, all that is there. Clocks go on. */
function isAsShown(before: readonly Target[], now: readonly Target[], id: string | undefined): boolean {
  if (id === undefined) return before.length === now.length && before.every((one, at) => isSameHere(one, now[at]));
  const [then, here] = [before, now].map((targets) => targets.find((target) => target.id === id));
  return then !== undefined && here?.name === then.name && here.type === then.type && here.rect === then.rect;
}

const isSameHere = (one: Target, other: Target | undefined): boolean =>
  other?.type === one.type && other.rect === one.rect && withoutDigits(other.name) === withoutDigits(one.name);

const withoutDigits = (name: string): string => name.replaceAll(/\d+/gu, '0');

function targetsIn(result: Json): readonly Target[] {
  const list = Array.isArray(result) ? result : fieldsOf(result)['result'];
  if (!Array.isArray(list)) return [];
  return list.flatMap((item) => {
    const { id, name, type, rect } = fieldsOf(item);
    if (typeof id !== 'string') return [];
    return [{ id, name: textOf(name, 1_024), type: textOf(type, 64), rect: JSON.stringify(rect ?? null) }];
  });
}

/** As agents read it, and say what they have seen. */
const textOf = (value: Json | undefined, charsMax: number): string =>
  typeof value === 'string' ? value.slice(0, charsMax).toWellFormed() : '';

function attemptIn(commandId: CommandId): string {
  const of = attemptOfCommand(commandId);
  return of === undefined ? '' : `${of.runId}.${of.taskId}.${of.attempt}`;
}
