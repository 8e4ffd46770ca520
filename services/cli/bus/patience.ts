import { badInput, type CliContext } from '../terminal/index.js';

/** How long a bus may say nothing before a command gives it up, and who is told that it does. */
export interface Patience {
  /** For the first connection, in milliseconds. */
  readonly connectMs: number;
  /** For an open one, in milliseconds. */
  readonly silentMs: number;
  /** Told, in one line, that it takes longer than usual, and when that is over. */
  readonly say: (text: string) => void;
  /** Ends the waiting for a connection. */
  readonly signal: AbortSignal;
}

/** What a command is about, as far as it makes a difference. */
export interface PatienceWish {
  /** It waits for a run, however long that takes. */
  readonly follows?: boolean;
  /** It has a time of its own, in milliseconds: an open connection is not given up before. */
  readonly silentMsMin?: number;
}

/** Set by people and by scripts, in seconds. */
const VARIABLE = 'ORRERY_BUS_TIMEOUT';
const SECONDS = /^\d{1,4}(?:\.\d{1,3})?$/u;
const USUAL_MS = 10_000;
/** Who follows a run waits for as long as a server may take to be mended. */
const FOLLOWING_MS = 300_000;

/** Of a command: what its environment says, else the usual. Throws CliError for what is no number of seconds. */
export function patienceOf(
  { env, signal }: Pick<CliContext, 'env' | 'signal'>,
  say: Patience['say'],
  { follows = false, silentMsMin = 0 }: PatienceWish = {},
): Patience {
  const text = (env[VARIABLE] ?? '').trim();
  const given = text === '' ? undefined : Number(text) * 1_000;
  if (given !== undefined && !(SECONDS.test(text) && given > 0)) {
    throw badInput(`${VARIABLE}: "${text}" is no number of seconds, for example 10 or 2.5.`);
  }
  return {
    connectMs: given ?? USUAL_MS,
    silentMs: Math.max(silentMsMin, given ?? (follows ? FOLLOWING_MS : USUAL_MS)),
    say,
    signal,
  };
}

/** Of what nobody watches, such as the parts of a system that starts. */
export const USUAL_PATIENCE: Patience = {
  connectMs: USUAL_MS,
  silentMs: USUAL_MS,
  say: () => {},
  signal: new AbortController().signal,
};
