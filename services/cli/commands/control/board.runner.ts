import { foldRun, runBoardOf, writerText } from '#libs/constellation';
import { meantName, parseJson, type Json, type RunBoard, type ShownEntry } from '#proto';
import {
  badInput,
  cleanLine,
  clipToWidth,
  momentText,
  tell,
  tellTable,
  type CliContext,
  type ExitCode,
} from '../../terminal/index.js';
import { readRequestFile } from '../../files/index.js';
import { commitsOf, openOneRun, unknownRun } from '../../sources/index.js';
import { say, type ControlOptions } from './control.runner.js';

const VALUE_CHARS_MAX = 200;

interface WriteOptions extends ControlOptions {
  readonly revision?: number | undefined;
}

/** What stands on the board of a run, as its log, or a file, has it. */
export async function listBoard(context: CliContext, source: string): Promise<ExitCode> {
  const board = await boardIn(context, source);
  return tellTable<ShownEntry>(context, {
    json: board,
    rows: board.entries,
    columns: [
      { title: 'NAME', value: ({ name }) => name },
      { title: 'REVISION', value: ({ revision }) => `${revision ?? '-'}` },
      { title: 'BYTES', value: ({ bytes }) => `${bytes}` },
      { title: 'BY', value: (entry) => cleanLine(writerText(entry)) },
      { title: 'AT', value: ({ writtenAt }) => (writtenAt === undefined ? '-' : momentText(writtenAt)) },
      { title: 'JUDGED', value: ({ judge }) => (judge === true ? 'yes' : 'no') },
      { title: 'VALUE', value: ({ value }) => clipToWidth(cleanLine(JSON.stringify(value)), VALUE_CHARS_MAX) },
    ],
    nothing: 'Nothing stands on the board of this run.',
  });
}

/** One value, whole: a text as it is, everything else as JSON. */
export async function getFromBoard(context: CliContext, source: string, name: string): Promise<ExitCode> {
  const { entries } = await boardIn(context, source);
  const entry = entries.find((one) => one.name === name);
  if (entry === undefined) {
    const names = entries.map((one) => one.name);
    const meant = meantName(name, names);
    const known = names.length === 0 ? 'nothing does' : `there are ${names.slice(0, 10).join(', ')}`;
    const hint = meant === undefined ? known : `did you mean ${meant}?`;
    throw badInput(`Nothing stands on the board under "${cleanLine(name)}": ${hint}`);
  }
  const { value } = entry;
  return tell(context, entry, cleanLines(typeof value === 'string' ? value : JSON.stringify(value, null, 2)));
}

const cleanLines = (text: string): string => text.split('\n').map(cleanLine).join('\n');

interface SetWords {
  readonly name: string;
  readonly value: string;
  readonly isText: boolean;
  readonly words: WriteOptions;
}

export async function setOnBoard(context: CliContext, run: string, told: SetWords): Promise<ExitCode> {
  const { name, words } = told;
  const text = told.value === '-' ? await readRequestFile('-') : told.value;
  const parsed = told.isText ? undefined : (parseJson(text) as Json | undefined);
  const fields = { name, value: parsed === undefined ? text : parsed, revision: words.revision };
  return say(context, run, { verb: 'BOARD_SET', fields, words });
}

export function takeOffBoard(
  context: CliContext,
  run: string,
  { name, words }: Pick<SetWords, 'name' | 'words'>,
): Promise<ExitCode> {
  return say(context, run, { verb: 'BOARD_DELETE', fields: { name, revision: words.revision }, words });
}

async function boardIn(context: CliContext, source: string): Promise<RunBoard> {
  const [runId, records] = await openOneRun(context, source);
  const run = foldRun(commitsOf(runId, records));
  if (run === undefined) throw unknownRun(runId);
  return runBoardOf(run);
}
