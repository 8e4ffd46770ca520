import { parseVerbFields, sendVerb, type VerbFields } from '#libs/messaging';
import { parseWith, sentenceOf, VerbId } from '#proto';
import type { Refusal, RunId, RunVerb, VerbAnswer } from '#proto';
import { withSignedBus } from '../../bus/index.js';
import {
  cleanLine,
  badInput,
  failure,
  unreachable,
  type CliError,
  EXIT,
  type ExitCode,
  printJson,
  type CliContext,
} from '../../terminal/index.js';
import { waitForEnd } from '../../live/index.js';
import { sentencesOf } from '../../files/index.js';
import { runIdFrom } from '../../sources/index.js';

/** What every command that changes a run takes. */
export interface ControlOptions {
  /** Of an earlier try whose outcome is unknown; a new one when absent. */
  readonly id?: string | undefined;
  /** How long to go on trying. */
  readonly timeoutMs: number;
  /** Show the run until it ends. */
  readonly wait?: boolean | undefined;
}

export function cancel(context: CliContext, run: string, words: ControlOptions & { reason?: string | undefined }) {
  const said = (runId: RunId, { sequence }: VerbAnswer) => `run ${runId} is being cancelled (event ${sequence})`;
  return control(context, run, { verb: 'CANCEL', fields: reasonOf(words), words, said });
}

export function pause(context: CliContext, run: string, words: ControlOptions & { reason?: string | undefined }) {
  const said = (runId: RunId, { sequence }: VerbAnswer) => `run ${runId} is paused (event ${sequence})`;
  return control(context, run, { verb: 'PAUSE', fields: reasonOf(words), words, said });
}

export function resume(context: CliContext, run: string, words: ControlOptions) {
  const said = (runId: RunId, { sequence }: VerbAnswer) => `run ${runId} goes on (event ${sequence})`;
  return control(context, run, { verb: 'RESUME', fields: {}, words, said });
}

export function retry(context: CliContext, run: string, words: ControlOptions & { task: string }) {
  const { task } = words;
  const said = (runId: RunId, { sequence }: VerbAnswer) =>
    `task ${task} of run ${runId} is tried again (event ${sequence})`;
  return control(context, run, { verb: 'RETRY', fields: { taskId: task }, words, said });
}

export function fork(context: CliContext, run: string, words: ControlOptions & { at: number }) {
  const { at } = words;
  const said = (parent: RunId, { runId = '?' }: VerbAnswer) => `run ${runId} forked from run ${parent} at event ${at}`;
  return control(context, run, { verb: 'FORK', fields: { at }, words, said });
}

export interface Control<V extends RunVerb> {
  readonly verb: V;
  readonly fields: VerbFields<V>;
  readonly words: ControlOptions;
  /** What has happened, for a person, without a full stop. */
  readonly said: (runId: RunId, answer: VerbAnswer) => string;
}

/** Sends a verb until it has its final answer, and says what came of it: nothing to do is fine, a refusal is bad input. */
export async function control<V extends RunVerb>(
  context: CliContext,
  run: string,
  { verb, fields, words, said }: Control<V>,
): Promise<ExitCode> {
  const runId = runIdFrom(run);
  const valid = parseVerbFields(verb, fields);
  if (!valid.ok) throw badInput(sentencesOf(valid.issues), valid.issues);
  const id = words.id === undefined ? undefined : verbIdFrom(words.id);
  return withSignedBus(context, async (nc, seed) => {
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
    if (outcome.answer === 'rejected') throw rejection(outcome.reason);
    const target = outcome.runId ?? runId;
    const sentence = said(runId, outcome);
    if (words.wait !== true) {
      print(context, { answer: outcome, runId: target, sentence });
      return EXIT.ok;
    }
    if (!context.json) context.terminal.err(outcome.answer === 'ignored' ? nothingToDo(outcome) : sentence);
    // A fork is another run, with events of its own; the same run may have ended before, and goes on now.
    return waitForEnd(context, nc, target, { from: outcome.runId === undefined ? outcome.sequence : 0 });
  });
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
function rejection(reason: Refusal | undefined): CliError {
  if (reason === undefined) return failure('It was refused without a reason.');
  const { code, message, issues } = reason;
  if (code === 'UNAUTHORIZED') return failure(message);
  const lines = issues.map((issue) => cleanLine(sentenceOf(issue)));
  // The message is often the first of the issues, in the same words.
  const said = lines.includes(cleanLine(message)) ? lines : [message, ...lines];
  return badInput(said.length === 1 ? message : ['Nothing was changed:', ...said].join('\n  '), issues);
}

function verbIdFrom(text: string): VerbId {
  const parsed = parseWith(VerbId, text);
  if (parsed.ok) return parsed.value;
  throw badInput(`--id: ${parsed.issues.map(sentenceOf).join('; ')}`);
}

function reasonOf({ reason }: { reason?: string | undefined }): { reason?: string } {
  return reason === undefined ? {} : { reason };
}

function once(say: (why: string) => void): (why: string) => void {
  let said = false;
  return (why) => {
    if (!said) say(why);
    said = true;
  };
}
