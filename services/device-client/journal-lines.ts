import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { CommandJournal, JournalError, JournalRecord } from './command-journal.js';

/**
 * One line of the file is what was made durable together: `<crc32 as 8 hex digits> <JSON array of records>\n`. Either all
 * of a line counts or nothing of it, so a crash in the middle of a write leaves at most one bad line, and it is the last.
 */
export function lineOf(records: readonly JournalRecord[]): string {
  const text = JSON.stringify(records);
  return `${checksum(text)} ${text}\n`;
}

export interface ReadJournal {
  readonly journal: CommandJournal;
  /** Where the good part ends: the file is cut there. */
  readonly goodBytes: number;
  /** Bytes of a last line that a crash tore. */
  readonly tornBytes: number;
}

const Records = z.array(JournalRecord);
const NEWLINE = 0x0a;

/** Reads the whole file back. A bad last line was never acknowledged to anybody; a bad line before it means damage, and guessing could run a command twice. */
export function readJournal(bytes: Buffer): ReadJournal | undefined {
  let journal: CommandJournal | undefined;
  let start = 0;
  for (let line = 1; start < bytes.length; line++) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline + 1;
    const records = newline === -1 ? undefined : recordsOf(bytes.toString('utf8', start, newline));
    if (records === undefined) {
      if (end < bytes.length) throw new JournalError(`line ${line} (at byte ${start}) is damaged`);
      break;
    }
    journal = applyLine(journal, records, line);
    start = end;
  }
  return journal === undefined ? undefined : { journal, goodBytes: start, tornBytes: bytes.length - start };
}

function applyLine(
  journal: CommandJournal | undefined,
  records: readonly JournalRecord[],
  line: number,
): CommandJournal {
  let current = journal;
  for (const record of records) {
    if (current === undefined) {
      if (record.type !== 'opened') throw new JournalError(`line ${line} does not begin a journal`);
      current = new CommandJournal(record.journalId);
    } else {
      current.apply(record);
    }
  }
  if (current === undefined) throw new JournalError(`line ${line} is empty`);
  return current;
}

/** Undefined when the checksum does not match; a line that matches and still makes no sense is an error of ours. */
function recordsOf(line: string): JournalRecord[] | undefined {
  const text = line.slice(9);
  if (line[8] !== ' ' || line.slice(0, 8) !== checksum(text)) return undefined;
  const parsed = Records.safeParse(JSON.parse(text));
  if (!parsed.success) throw new JournalError(`a record has an unknown form: ${parsed.error.message}`);
  return parsed.data;
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0');
