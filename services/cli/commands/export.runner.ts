import { rename, writeFile } from 'node:fs/promises';
import { renderExport } from '../audit/export-file.js';
import { withBus } from '../bus.client.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { failure, messageOf } from '../errors.js';
import { loadRecords } from '../log.client.js';
import { runIdFrom } from '../sources.client.js';
import { printJson, type CliContext } from '../terminal.js';
import { counted } from '../timeline.js';

/** Writes a run as it is stored, to take it home: `verify`, `replay`, `show` and `report` need nothing else. */
export async function exportRun(context: CliContext, run: string, file?: string): Promise<ExitCode> {
  const runId = runIdFrom(run);
  const records = await withBus(context, (nc) => loadRecords(nc, runId));
  const text = renderExport(records);
  if (file === undefined || file === '-') {
    context.terminal.out(text.trimEnd());
    return EXIT.ok;
  }
  await writeWhole(file, text);
  if (context.json) printJson(context, { runId, file, records: records.length });
  else context.terminal.out(`${counted(records.length, 'commit')} of run ${runId} written to ${file}`);
  return EXIT.ok;
}

/** Whole or not at all: half a proof is none. */
export async function writeWhole(file: string, text: string): Promise<void> {
  try {
    await writeFile(`${file}.part`, text);
    await rename(`${file}.part`, file);
  } catch (error) {
    throw failure(`${file} cannot be written: ${messageOf(error)}`, error);
  }
}
