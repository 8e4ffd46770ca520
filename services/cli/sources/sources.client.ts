import { readFile, stat } from 'node:fs/promises';
import { ID_PATTERN, type RunId } from '#proto';
import { EXPORT_BYTES_MAX, parseExport, recordsByRun, type ExportRecord } from '#libs/audit';
import { recordAccess, withBus, type OwnAccess } from '../bus/index.js';
import { cleanLine, badInput, type CliContext } from '../terminal/index.js';
import { loadRecords } from './log.client.js';

export interface RunSource {
  readonly origin: 'file' | 'log';
  /** Records per run, in order. */
  readonly runs: ReadonlyMap<RunId, readonly ExportRecord[]>;
  /** What is wrong with the file itself. */
  readonly problems: readonly string[];
}

/** A run in the log, by its id, which is recorded as `what`; or a file that `export` wrote: then nothing else is needed, not even a network. */
export async function openSource(
  context: CliContext,
  runOrFile: string,
  what: OwnAccess['what'] = 'RUN_READ',
): Promise<RunSource> {
  if (await isFile(runOrFile)) return readExport(runOrFile);
  const runId = runIdFrom(runOrFile);
  const records = await withBus(context, async (nc) => {
    await recordAccess(nc, { what, runId });
    return loadRecords(nc, runId);
  });
  return { origin: 'log', runs: new Map([[runId, records]]), problems: [] };
}

/** The one run of a source. A damaged file is not shown as if it were whole. */
export async function openOneRun(
  context: CliContext,
  runOrFile: string,
  what?: OwnAccess['what'],
): Promise<[RunId, readonly ExportRecord[]]> {
  return oneRunOf(await openSource(context, runOrFile, what), runOrFile);
}

/** As `openOneRun`, of a source that is open. */
export function oneRunOf({ runs, problems }: RunSource, runOrFile: string): [RunId, readonly ExportRecord[]] {
  const [problem] = problems;
  if (problem !== undefined) throw badInput(`${runOrFile} is damaged: ${problem}. Try: orrery verify ${runOrFile}`);
  const [run, second] = runs;
  if (run === undefined) throw badInput(`${runOrFile} has no run in it.`);
  if (second !== undefined) throw badInput(`${runOrFile} has ${runs.size} runs in it; one is needed.`);
  return run;
}

export function runIdFrom(text: string): RunId {
  if (ID_PATTERN.test(text)) return text;
  throw badInput(`"${cleanLine(text)}" is neither a file nor a run id; a run id has 26 letters and digits.`);
}

async function isFile(name: string): Promise<boolean> {
  const found = await stat(name).catch(() => undefined);
  if (found?.isFile() === true) return true;
  if (name.includes('/') || name.includes('.')) throw badInput(`There is no file ${cleanLine(name)}.`);
  return false;
}

async function readExport(file: string): Promise<RunSource> {
  const { size } = await stat(file);
  if (size > EXPORT_BYTES_MAX) throw badInput(`${file} has ${size} bytes; at most ${EXPORT_BYTES_MAX} are read.`);
  const { records, problems } = parseExport(await readFile(file, 'utf8'));
  return { origin: 'file', runs: recordsByRun(records), problems };
}
