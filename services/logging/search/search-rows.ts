import { placeOfCommand, attemptOfCommand, type AttemptCommit, type CommandId, type RunId } from '#proto';
import { commandsOf, type CutPart, type ReportedCommand } from '#libs/constellation';
import type { JudgementRow, SearchRow } from '../entities/index.js';
import { fieldLexeme, segmentLexemes, vectorText, WordSet } from './lexemes.js';
import { callPrinted, searchedTexts, type SearchedText } from './texts.js';

/** Events of one commit that have places of their own: many more than fit into one. */
const EVENTS_BITS = 12;

/** A fact of a command, from which its row is made. */
export interface ToldCommand extends Omit<SearchRow, 'by' | 'device' | 'rule' | 'decision' | 'words'> {
  readonly runId: RunId;
  readonly taskId: string;
  readonly attempt: number;
  /** Of a judgement it is not told here. */
  readonly device: string | null;
  readonly texts: readonly SearchedText[];
  /** What it printed that the log holds a part of. */
  readonly cutParts: readonly CutPart[];
}

export interface ToldCommands {
  readonly judgements: readonly JudgementRow[];
  /** One of each command: what is told last. */
  readonly commands: readonly ToldCommand[];
}

/** The commands that the commits of attempts tell of, and how they were judged. Commands that only were issued are told when they have ended. */
export function toldCommands(
  read: readonly { readonly commit: AttemptCommit; readonly streamSequence: number }[],
): ToldCommands {
  const judgements: JudgementRow[] = [];
  const commands = new Map<CommandId, ToldCommand>();
  for (const { commit, streamSequence } of read) {
    for (const [index, event] of commit.events.entries()) {
      const place = placeOf(streamSequence, index);
      const told = { place, streamSequence, at: commit.at, ...keyOf(commit) };
      if (event.type === 'COMMAND_JUDGED') {
        const { commandId, rule, decision, command: call } = event.data;
        judgements.push({ commandId, place, rule, decision });
        if (decision !== 'deny' && decision !== 'approve') continue;
        const state = decision === 'deny' ? 'DENIED' : 'ASKED';
        const { texts, isCut: cut } = searchedTexts(callPrinted(call));
        const unknown = { exitCode: null, device: null, cutParts: [] };
        commands.set(commandId, { ...told, commandId, state, call, cut, texts, ...unknown });
      } else if (event.type === 'COMMAND_FINISHED') {
        const [command] = commandsOf([{ ...commit, events: [event] }]);
        if (command !== undefined) commands.set(command.commandId, { ...told, ...finished(command) });
      }
    }
  }
  return { judgements, commands: [...commands.values()] };
}

function placeOf(streamSequence: number, index: number): number {
  return streamSequence * 2 ** EVENTS_BITS + Math.min(index, 2 ** EVENTS_BITS - 1);
}

/** Above all places in messages of ATTEMPTS up to this one. */
export function placesUpTo(streamSequence: number): number {
  return placeOf(streamSequence + 1, 0);
}

function keyOf({ runId, taskId, attempt }: AttemptCommit) {
  return { runId, taskId, attempt };
}

function finished(command: ReportedCommand) {
  const { commandId, state, exitCode, deviceId: device } = command;
  const { texts, isCut: cut } = searchedTexts(command);
  return { commandId, state, exitCode, device, call: null, texts, cut, cutParts: command.cut ?? [] };
}

/** What is known of a command besides its own fact. */
export interface AboutCommand {
  /** Who asked for its run. */
  readonly by: string | null;
  readonly device: string | null;
  /** In their order. */
  readonly judgements: readonly JudgementRow[];
  /** Of all that it says and prints, as far as they are looked at. */
  readonly words: WordSet;
  /** What is kept beside it is not looked at whole. */
  readonly isCut: boolean;
}

/** The words of what the log holds of a command; those of what is kept beside it may be added. */
export function toldWords({ texts }: Pick<ToldCommand, 'texts'>): WordSet {
  const words = new WordSet();
  for (const { text } of texts) words.add(text);
  return words;
}

export function searchRow(told: ToldCommand, { by, device, judgements, words, isCut }: AboutCommand): SearchRow {
  const { runId, taskId, attempt: _, texts: _texts, cutParts: _parts, ...row } = told;
  const last = judgements.at(-1);
  const lexemes = new Set(words.words);
  lexemes.add(fieldLexeme('run', runId)).add(fieldLexeme('task', taskId)).add(fieldLexeme('state', told.state));
  if (device !== null) lexemes.add(fieldLexeme('device', device));
  if (by !== null) lexemes.add(fieldLexeme('by', by));
  if (told.exitCode !== null) lexemes.add(fieldLexeme('exit', told.exitCode));
  for (const { rule } of judgements) for (const part of beginningsOf(rule)) lexemes.add(fieldLexeme('rule', part));
  for (const segment of segmentLexemes(told.place)) lexemes.add(segment);
  return {
    ...row,
    cut: row.cut || isCut || words.isFull,
    by,
    device,
    rule: last?.rule ?? null,
    decision: last?.decision ?? null,
    words: vectorText(lexemes),
  };
}

/** `program.rm.recursive` is found as `program` and `program.rm`, too. */
function beginningsOf(rule: string): string[] {
  const parts = rule.split('.');
  return parts.map((_, index) => parts.slice(0, index + 1).join('.'));
}

/** Where a command stands, out of its id. */
export function whereOf(commandId: CommandId) {
  const attempt = attemptOfCommand(commandId);
  const place = placeOfCommand(commandId);
  return attempt === undefined || place === undefined ? undefined : { ...attempt, ...place };
}
