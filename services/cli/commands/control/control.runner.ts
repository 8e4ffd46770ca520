import type { NatsConnection } from '@nats-io/transport-node';
import { parseVerbFields, sendVerb } from '#libs/messaging';
import { parseWith, sentenceOf, VERB_ROWS, VerbId } from '#proto';
import { approvalFrom } from './approval-id.js';
import type { RunId, RunVerb, VerbAnswer } from '#proto';
import { withSignedBus } from '../../bus/index.js';
import {
  cleanLine,
  badInput,
  cannotStore,
  failure,
  unreachable,
  type CliError,
  EXIT,
  type ExitCode,
  printJson,
  tellNext,
  type CliContext,
} from '../../terminal/index.js';
import { waitForEnd } from '../../live/index.js';
import { stepsOfBegun } from '../../text/index.js';
import { sentencesOf } from '../../files/index.js';
import { runIdFrom } from '../../sources/index.js';

/** After these something begins that can be followed. */
const GOES_ON: ReadonlySet<RunVerb> = new Set(['RESUME', 'RETRY', 'FORK', 'SAY', 'APPROVE', 'ANSWER']);

/** What every command that changes a run takes. */
export interface ControlOptions {
  /** Of an earlier try whose outcome is unknown; a new one when absent. */
  readonly id?: string | undefined;
  /** How long to go on trying. */
  readonly timeoutMs: number;
  /** Show the run until it ends. */
  readonly wait?: boolean | undefined;
}

export interface Said {
  readonly verb: RunVerb;
  /** What is said with it, unchecked; what is undefined is not said. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly words: ControlOptions;
  /** Fills in what the row of the verb leaves open in the sentence about what has happened, beside its fields. */
  readonly more?: Readonly<Record<string, string>>;
}

/** Says a verb to a run, or about an approval, as its id was typed. */
export function say(context: CliContext, target: string, said: Said): Promise<ExitCode> {
  if (!('decision' in VERB_ROWS[said.verb].route)) return control(context, target, said);
  const { approvalId, runId } = approvalFrom(target);
  return control(context, runId, { ...said, fields: { approvalId, ...said.fields } });
}

/** Sends a verb until it has its final answer, and says what came of it: nothing to do is fine, a refusal is bad input. */
async function control(context: CliContext, run: string, { verb, fields, words, more }: Said): Promise<ExitCode> {
  const runId = runIdFrom(run);
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const valid = parseVerbFields(verb, given);
  if (!valid.ok) throw badInput(sentencesOf(valid.issues), valid.issues);
  const id = words.id === undefined ? undefined : verbIdFrom(words.id);
  const work = async (nc: NatsConnection, seed: string): Promise<ExitCode> => {
    const { timeoutMs } = words;
    const { now, signal } = context;
    const onRepeat = once((why) =>
      context.terminal.err(`${cleanLine(why)} Trying again for up to ${timeoutMs / 1_000} s.`),
    );
    const request = { runId, verb, fields: valid.value, seed, id, now, signal, deadlineMs: timeoutMs, onRepeat };
    const outcome = await sendVerb(nc, request);
    if (outcome.answer === 'unknown') {
      throw unreachable(`${outcome.why} Whether it was done is not known; say it again with --id ${outcome.id}`);
    }
    if (outcome.answer === 'rejected') throw rejection(outcome);
    const target = outcome.runId ?? runId;
    const { sequence } = outcome;
    const sentence = doneText(verb, outcome, { ...given, ...more, run: runId, new: outcome.runId ?? '?', sequence });
    if (words.wait !== true) {
      print(context, { answer: outcome, runId: target, sentence });
      if (GOES_ON.has(verb) && outcome.answer === 'accepted') tellNext(context, stepsOfBegun(target));
      return EXIT.ok;
    }
    if (!context.json) context.terminal.err(outcome.answer === 'ignored' ? nothingToDo(outcome) : sentence);
    // A fork is another run, with events of its own; the same run may have ended before, and goes on now.
    return waitForEnd(context, nc, target, { from: outcome.runId === undefined ? outcome.sequence : 0 });
  };
  return withSignedBus(context, work, { follows: words.wait === true, silentMsMin: words.timeoutMs });
}

/** What has happened, for a person, without a full stop. */
function doneText(
  verb: RunVerb,
  { waits, detail }: Pick<VerbAnswer, 'waits' | 'detail'>,
  values: Readonly<Record<string, unknown>>,
): string {
  const { done, noted = done } = VERB_ROWS[verb].command;
  const sentence = (waits === true ? noted : done).replaceAll(/\{(\w+)\}/gu, (_, name: string) => {
    const value = values[name];
    return typeof value === 'string' || typeof value === 'number' ? `${value}` : '';
  });
  return detail === undefined ? sentence : `${sentence}: ${cleanLine(detail)}`;
}

interface Result {
  readonly answer: VerbAnswer;
  readonly runId: RunId;
  readonly sentence: string;
}

function print(context: CliContext, { answer, runId, sentence }: Result): void {
  if (context.json) printJson(context, { runId, ...answer });
  if (answer.answer === 'ignored') context.terminal.err(nothingToDo(answer));
  else if (!context.json) context.terminal.out(sentence);
}

function nothingToDo({ reason }: VerbAnswer): string {
  return `nothing to do: ${cleanLine(reason?.message ?? 'it is so already')}`;
}

/** One line for each thing that is wrong, with its path. */
function rejection({ reason, board }: Pick<VerbAnswer, 'reason' | 'board'>): CliError {
  if (reason === undefined) return failure('It was refused without a reason.');
  const { code, message, issues } = reason;
  if (code === 'STORAGE_FULL') return cannotStore({ code, message });
  if (code === 'UNAUTHORIZED') return failure(message);
  const now = board?.value === undefined ? [] : [{ path: 'now', message: JSON.stringify(board.value) }];
  const lines = [...issues, ...now].map((issue) => cleanLine(sentenceOf(issue)));
  // The message is often the first of the issues, in the same words.
  const said = lines.includes(cleanLine(message)) ? lines : [message, ...lines];
  return badInput(said.length === 1 ? message : ['Nothing was changed:', ...said].join('\n  '), issues);
}

function verbIdFrom(text: string): VerbId {
  const parsed = parseWith(VerbId, text);
  if (parsed.ok) return parsed.value;
  throw badInput(`--id: ${parsed.issues.map(sentenceOf).join('; ')}`);
}

function once(say: (why: string) => void): (why: string) => void {
  let said = false;
  return (why) => {
    if (!said) say(why);
    said = true;
  };
}
