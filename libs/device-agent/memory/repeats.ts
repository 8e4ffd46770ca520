import type { CommandCall, Json } from '#proto';
import type { ToolCalled } from '../effects/index.js';

interface Seen {
  readonly outcome: string;
  readonly failing: boolean;
  readonly times: Times;
}

/** How often a call has had the same outcome: with no other call in between, and in all since it last had another one. */
interface Times {
  readonly inRow: number;
  readonly inAll: number;
}

/**
 * Who repeats what did not help gets nowhere. A call that fails the same way is hopeless sooner than one that succeeds: waiting
 * for something is done by looking again and again. With other calls in between something may have been mended.
 */
export const REPEATS_MAX = { failing: { inRow: 3, inAll: 6 }, succeeding: { inRow: 8, inAll: 16 } } as const;
/** From this often on the model is told. */
export const REPEATS_TOLD = { failing: { inRow: 2, inAll: 3 }, succeeding: { inRow: 4, inAll: 8 } } as const;

/** Remembers the outcome of every call of an agent. */
export class Repeats {
  readonly #seen = new Map<string, Seen>();
  #last: string | null = null;

  /** Notes what became of a call; gives what the model is to be told of it, if anything. */
  note(call: CommandCall, outcomeText: string, failing: boolean): readonly string[] {
    const outcome = digest(outcomeText);
    const key = keyOf(call);
    const before = this.#seen.get(key);
    const { inRow, inAll } = before?.outcome === outcome ? before.times : { inRow: 0, inAll: 0 };
    const times = { inRow: this.#last === key ? inRow + 1 : 1, inAll: inAll + 1 };
    this.#seen.set(key, { outcome, failing, times });
    this.#last = key;
    const told = failing ? REPEATS_TOLD.failing : REPEATS_TOLD.succeeding;
    if (!reaches(times, told)) return [];
    return [
      `This call has now had the same outcome ${times.inAll} times. Repeating it does not help; do something else, or FAIL ` +
        `and say why. The task is given up when it goes on like this.`,
    ];
  }

  /** How often the call has already had the same outcome, when that was often enough to make no further try. */
  hopeless(call: CommandCall): number | null {
    const key = keyOf(call);
    const seen = this.#seen.get(key);
    if (seen === undefined) return null;
    const inRow = this.#last === key ? seen.times.inRow : 0;
    const max = seen.failing ? REPEATS_MAX.failing : REPEATS_MAX.succeeding;
    return reaches({ ...seen.times, inRow }, max) ? seen.times.inAll : null;
  }
}

const reaches = (times: Times, bound: Times): boolean => times.inRow >= bound.inRow || times.inAll >= bound.inAll;

/** The same call in the same window, whichever listing its agent has read for it: each look makes a new one. */
function keyOf({ tool, arguments: given, on }: CommandCall): string {
  const place = on === undefined ? {} : { on: { application: on.application, window: on.window } };
  return digest(canonical({ tool, arguments: given, ...place }));
}

/** What is the same about two outcomes of a call: not when it was, nor how long it took. */
export function outcomeText(ended: ToolCalled['ended']): string {
  if (ended.kind === 'refused') return canonical({ refused: ended.by, code: ended.code });
  return canonical({ state: ended.state, value: withoutTimes(ended.result?.value ?? null) });
}

/** The call did not run, did not end well, or says so with its exit code. */
export function isFailing(ended: ToolCalled['ended']): boolean {
  if (ended.kind === 'refused' || ended.state !== 'COMPLETED') return true;
  const value = ended.result?.value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return typeof value['exit_code'] === 'number' && value['exit_code'] !== 0;
}

const TIMES = new Set(['timestamp', 'execution_time']);

function withoutTimes(value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !TIMES.has(key)));
}

/** Short, whatever the text: outputs are long, and an agent makes many calls. Two texts with one digest cost one more try. */
function digest(text: string): string {
  let [one, other] = [0x81_1c_9d_c5, 0x9e_37_79_b9];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x01_00_01_93);
    other = Math.imul(other ^ unit, 0x85_eb_ca_6b) ^ (other >>> 13);
  }
  return `${text.length}.${(one >>> 0).toString(36)}.${(other >>> 0).toString(36)}`;
}

/** Keys in order: the same value is the same text. */
function canonical(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join()}}`;
}
