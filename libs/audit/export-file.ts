// A run as a file: one JSON object per line, first the commits of RUNS, then those of ATTEMPTS and of PLANS, then what people have said to
// entries of the inbox that are about it, then the commits of the actors who had a part in it, each with where it stood.
// `line` and `of` number the lines, so that a cut or shortened file is noticed although no hash points at its last line.
import { z } from 'zod';
import { runIdOfSubject, parseJson, RunId } from '#proto';

export const EXPORT_BYTES_MAX = 256 * 1024 * 1024;

const ExportStream = z.enum(['RUNS', 'ATTEMPTS', 'PLANS', 'ATTENTION', 'ACTORS']);

/** A commit as parsed from storage, before any schema: the hash covers every field, known or not. */
export interface ExportRecord {
  readonly stream: z.infer<typeof ExportStream>;
  readonly subject: string;
  /** Position in the stream. */
  readonly sequence: number;
  readonly commit: unknown;
}

const ExportLine = z.strictObject({
  stream: ExportStream,
  subject: z.string().min(1).max(512),
  sequence: z.int().min(1),
  line: z.int().min(1).optional(),
  of: z.int().min(1).optional(),
  commit: z.unknown(),
});

export interface ParsedExport {
  readonly records: readonly ExportRecord[];
  /** What is wrong with the file itself, by line. */
  readonly problems: readonly string[];
}

/** The whole file, a line break after every line. */
export function renderExport(records: readonly ExportRecord[]): string {
  return records.map((record, index) => exportLine(record, { line: index + 1, of: records.length })).join('');
}

/** One line of the file, with its line break. */
export function exportLine(
  { stream, subject, sequence, commit }: ExportRecord,
  { line, of }: { readonly line: number; readonly of: number },
): string {
  return `${JSON.stringify({ stream, subject, sequence, line, of, commit })}\n`;
}

/** Total: what cannot be read is a problem with its line, and the rest is read all the same. */
export function parseExport(text: string): ParsedExport {
  const records: ExportRecord[] = [];
  const problems: string[] = [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const [index, line] of lines.entries()) {
    const parsed = parseLine(line);
    const say = (problem: string): void => void problems.push(`line ${index + 1}: ${problem}`);
    if (typeof parsed === 'string') {
      say(parsed);
      continue;
    }
    if (parsed.line !== undefined && parsed.line !== index + 1) say(`it says that it is line ${parsed.line}`);
    if (parsed.of !== undefined && parsed.of !== lines.length) {
      say(`it says that the file has ${parsed.of} lines, but there are ${lines.length}`);
    }
    records.push({
      stream: parsed.stream,
      subject: parsed.subject,
      sequence: parsed.sequence,
      commit: parsed.commit,
    });
  }
  if (lines.length === 0) problems.push('the file is empty');
  return { records, problems: fewer(problems) };
}

/** The records of each run, in the order the runs appear; those of the actors are of each of them. */
export function recordsByRun(records: readonly ExportRecord[]): Map<RunId, ExportRecord[]> {
  const runs = new Map<RunId, ExportRecord[]>();
  const actors = records.filter(({ stream }) => stream === 'ACTORS');
  const entries = runsOfEntries(records);
  for (const record of records) {
    if (record.stream === 'ACTORS') continue;
    const runId = runIdOfSubject(record.subject) ?? entries.get(record.subject) ?? '?';
    const of = runs.get(runId) ?? [];
    runs.set(runId, of);
    of.push(record);
  }
  for (const of of runs.values()) of.push(...actors);
  return runs;
}

const About = z.looseObject({
  events: z.tuple([z.looseObject({ data: z.looseObject({ about: z.looseObject({ runId: RunId }) }) })], z.unknown()),
});

/** The run that each entry of the inbox is about, by the subject of its chain; nothing of entries that are about none. */
function runsOfEntries(records: readonly ExportRecord[]): Map<string, RunId> {
  return new Map(
    records.flatMap(({ stream, subject, commit }) => {
      const runId = stream === 'ATTENTION' ? About.safeParse(commit).data?.events[0].data.about.runId : undefined;
      return runId === undefined ? [] : [[subject, runId] as const];
    }),
  );
}

/** Of the records of ATTENTION those that are about a run: every entry with its whole chain. */
export function wordsAbout(runId: RunId, records: readonly ExportRecord[]): ExportRecord[] {
  const runs = runsOfEntries(records);
  return records.filter(({ subject }) => runs.get(subject) === runId);
}

function parseLine(line: string): z.infer<typeof ExportLine> | string {
  const json = parseJson(line);
  if (json === undefined) return 'this is not JSON';
  const parsed = ExportLine.safeParse(json);
  return parsed.success
    ? parsed.data
    : 'this is not a line of an export: stream, subject, sequence and commit are needed';
}

const PROBLEMS_MAX = 20;

function fewer(problems: readonly string[]): readonly string[] {
  if (problems.length <= PROBLEMS_MAX) return problems;
  return [...problems.slice(0, PROBLEMS_MAX), `and ${problems.length - PROBLEMS_MAX} more`];
}
