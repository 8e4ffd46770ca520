// A history: what one version stored of one run (or of the fleet), byte for byte, one line of JSON per message. `text` is the
// message as it was stored: hashes are over its content, so nothing is parsed and written anew on the way.
import { z } from 'zod';
import type { ExportRecord } from '#libs/audit';

const HistoryLine = z.strictObject({
  stream: z.enum(['RUNS', 'ATTEMPTS', 'PLANS', 'FLEET']),
  subject: z.string(),
  /** Position in the stream. */
  sequence: z.int().min(1),
  text: z.string(),
});
export type HistoryLine = z.infer<typeof HistoryLine>;

export function renderHistory(lines: readonly HistoryLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

export function parseHistory(text: string): HistoryLine[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => HistoryLine.parse(JSON.parse(line)));
}

/** As the auditor takes them: those of a run, in the order of an export. */
export function recordsOf(lines: readonly HistoryLine[]): ExportRecord[] {
  return lines.flatMap(({ stream, subject, sequence, text }) =>
    stream === 'FLEET' ? [] : [{ stream, subject, sequence, commit: JSON.parse(text) as unknown }],
  );
}
