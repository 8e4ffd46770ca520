import { ArtifactRef, type Json, LIMITS, type TaskResult, type TaskStatus } from '#proto';
import {
  boardNamesReadBy,
  evaluateCondition,
  isPlain,
  readsWhole,
  type Stream,
  streamsReadBy,
  type Truth,
  undecided,
} from './condition.js';

/** What a condition is judged over that is not judged on the spot. */
export interface Question {
  readonly condition: string;
  readonly status: TaskStatus;
  /** The whole result: as it is, or where it lies. */
  readonly result: { readonly value: Json } | { readonly artifact: ArtifactRef };
  /** Outputs of a command that lie elsewhere and belong in its place. */
  readonly streams: Readonly<Partial<Record<Stream, ArtifactRef>>>;
  /** What it reads of the board; undefined where it reads nothing there. */
  readonly board?: Json | undefined;
}

/** How a task ended, and what a condition about it finds on the board under these names (null: under any). */
export interface TaskEnding {
  readonly status: TaskStatus;
  readonly result: TaskResult | null;
  readonly board?: ((names: readonly string[] | null) => Json) | undefined;
}

/** What has been found out of conditions that take time, or need more than an event holds. */
export interface Truths {
  of(question: Question): Truth | undefined;
}

/** The same text for the same question, and for no other. */
function questionKey({ condition, status, result, streams, board }: Question): string {
  const of = 'artifact' in result ? [result.artifact.sha256] : result.value;
  return JSON.stringify([condition, status, of, streams.stdout?.sha256, streams.stderr?.sha256, board]);
}

/** Questions that were asked and are answered: what a decision needs to know besides its inputs. */
export class KnownTruths implements Truths {
  readonly #known = new Map<string, Truth>();

  of(question: Question): Truth | undefined {
    return this.#known.get(questionKey(question));
  }

  add(question: Question, truth: Truth): void {
    this.#known.set(questionKey(question), truth);
  }
}

/** Judges conditions for one decision: on the spot what takes no time, by what is known the rest, and notes what is not known. */
export class Judge {
  readonly #truths: Truths | undefined;
  readonly #wanted = new Map<string, Question>();

  /** `truths` undefined: everything that an event holds whole is judged on the spot, however long it takes. */
  constructor(truths: Truths | undefined) {
    this.#truths = truths;
  }

  /** Each of them once. While there are any, nothing of what was decided may be used. */
  get wanted(): readonly Question[] {
    return [...this.#wanted.values()];
  }

  /** Undefined: it is wanted from now on. */
  judge(condition: string, judged: TaskEnding): Truth | undefined {
    const asked = truthOrQuestion(condition, judged);
    if ('truth' in asked) return asked;
    if (this.#truths === undefined) return judgedInPlace(asked);
    const known = this.#truths.of(asked);
    if (known === undefined) this.#wanted.set(questionKey(asked), asked);
    return known;
  }
}

/** The truth where it takes no time, what somebody has to find out where it does. */
export function truthOrQuestion(condition: string, judged: TaskEnding): Truth | Question {
  const { status, result } = judged;
  const names = boardNamesReadBy(condition);
  const read = names?.length === 0 ? undefined : judged.board?.(names);
  const board = read === undefined ? {} : { board: read };
  const value = result?.value ?? null;
  const streams = streamsOf(condition, value);
  const cut = (result?.cut ?? []).filter((path) => !Object.hasOwn(streams, path));
  const artifact = readsWhole(condition, cut) ? undefined : result?.artifact;
  const bytes = [artifact, ...Object.values(streams)].reduce((sum, part) => sum + (part?.bytes ?? 0), 0);
  if (bytes > LIMITS.conditionBytesMax) {
    return undecided(`it is about ${bytes} bytes; at most ${LIMITS.conditionBytesMax} are judged`);
  }
  if (bytes === 0 && isPlain(condition)) return evaluateCondition(condition, { status, result: value, ...board });
  return { condition, status, result: artifact === undefined ? { value } : { artifact }, streams, ...board };
}

/** A command's output that its device cut lies whole in ARTIFACTS, and its result says where. */
function streamsOf(condition: string, value: Json): Question['streams'] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(
    streamsReadBy(condition, value).flatMap((stream) => {
      const artifact = ArtifactRef.safeParse(value[`${stream}_artifact`]);
      return artifact.success ? [[stream, artifact.data] as const] : [];
    }),
  );
}

/** Judges where it stands, however long it takes, what needs nothing that lies elsewhere. */
export function judgedInPlace({ condition, status, result, streams, board }: Question): Truth {
  if ('artifact' in result || Object.keys(streams).length > 0) return undecided('the whole of it is not at hand');
  return evaluateCondition(condition, { status, result: result.value, board });
}
