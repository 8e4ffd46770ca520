import type { Lab } from './lab.js';

/**
 * Who has to pass a check: `core` every AIP server, UFO's own too; `strict` a server that promises what we demand beyond:
 * proven identities, limits, an answer to every wrong frame; `revision-2` a server of our revision 2.
 */
export const PROFILES = ['core', 'strict', 'revision-2'] as const;
export type Profile = (typeof PROFILES)[number];

/** What a check cannot do without. Not given, it is skipped with this as its reason. */
export const NEEDS = {
  'two-devices': 'needs a second device: give --device-id and --device-token-file twice',
  constellation: 'needs a constellation client: give --constellation-token-file',
  driver: 'needs to make the server send COMMANDs: give --nats-url',
  execution: 'needs a server behind the gateway that carries tasks out: give --executes',
  registry: 'needs to revoke credentials at will: only the stand of the test suite can',
} as const;
export type Need = keyof typeof NEEDS;

export interface Check {
  /** Stable: names the check in reports, arguments and the list of mutants. */
  readonly id: string;
  readonly what: string;
  /** Where the demand comes from: a row of table 5, a recorded conversation, the promise of the project. */
  readonly source: string;
  readonly profile: Profile;
  readonly needs?: readonly Need[];
  /** How long it waits for a limit of the server to strike, beside what answers take. Absent: not at all. */
  readonly waitsMs?: number;
  /** Passes by returning. Throws CheckFailed for what the server did wrong. */
  readonly run: (lab: Lab) => Promise<void>;
}

/** The server did not do what the check demands: one sentence with what it did instead. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
}

export function demand(holds: boolean, sentence: string): asserts holds {
  if (!holds) throw new CheckFailed(sentence);
}

/** Demands equality as JSON: enough for frames. */
export function demandEqual(actual: unknown, wanted: unknown, what: string): void {
  const [is, should] = [text(actual), text(wanted)];
  demand(is === should, `${what} should be ${should} and is ${is}`);
}

const TEXT_CHARS_MAX = 300;

/** A value as a failure message shows it. */
export function text(value: unknown): string {
  const json = JSON.stringify(value) ?? 'absent';
  return json.length > TEXT_CHARS_MAX ? `${json.slice(0, TEXT_CHARS_MAX)}...` : json;
}
