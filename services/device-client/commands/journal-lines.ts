import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { CommandJournal, JournalError, JournalRecord } from './command-journal.js';

/**
 * One line of the file is what was made durable together:
 *
 *   <crc of the two numbers that follow> <bytes of the array> <crc of the array> <JSON array of records>\n
 *
 * Numbers are 8 hex digits. Either all of a line counts or nothing of it. A crash in the middle of a write leaves at most
 * one bad line, the last; because every line knows its length, damage to an earlier one cannot pass for that.
 */
export function lineOf(records: readonly JournalRecord[]): string {
  const text = JSON.stringify(records);
  const numbers = `${hex(Buffer.byteLength(text))} ${hex(crc32(text))}`;
  return `${hex(crc32(numbers))} ${numbers} ${text}\n`;
}

export interface ReadJournal {
  readonly journal: CommandJournal;
  /** Where the good part ends. */
  readonly goodBytes: number;
  /** Bytes of a last line that a crash tore. */
  readonly tornBytes: number;
}

const Records = z.array(JournalRecord);
const HEADER_BYTES = 27;
const NEWLINE = 0x0a;

/** Reads the whole file back. A torn last line was never acknowledged to anybody; after damage before it guessing could run a command twice. */
export function readJournal(bytes: Buffer): ReadJournal | undefined {
  let journal: CommandJournal | undefined;
  let start = 0;
  for (let line = 1; start < bytes.length; line++) {
    const read = readLine(bytes.subarray(start));
    if (read === 'torn') break;
    if (read === 'damaged') throw new JournalError(`line ${line} (at byte ${start}) is damaged`);
    journal = applyLine(journal, recordsOf(read.text, line), line);
    start += read.bytes;
  }
  return journal === undefined ? undefined : { journal, goodBytes: start, tornBytes: bytes.length - start };
}

function readLine(rest: Buffer): { text: string; bytes: number } | 'torn' | 'damaged' {
  if (rest.length < HEADER_BYTES) return 'torn';
  const header = rest.toString('latin1', 0, HEADER_BYTES);
  const [check, length, crc] = header.split(' ');
  if (length === undefined || crc === undefined || check !== hex(crc32(`${length} ${crc}`))) {
    // A file that grew without its content: blocks that were never written read as zeros.
    return rest.every((byte) => byte === 0) ? 'torn' : 'damaged';
  }
  const end = HEADER_BYTES + Number.parseInt(length, 16);
  if (rest.length <= end) return 'torn';
  const body = rest.subarray(HEADER_BYTES, end);
  if (hex(crc32(body)) === crc && rest[end] === NEWLINE) return { text: body.toString('utf8'), bytes: end + 1 };
  return rest.length === end + 1 ? 'torn' : 'damaged';
}

/** A line whose checksums match and that still makes no sense is an error of ours, or of a later version. */
function recordsOf(text: string, line: number): JournalRecord[] {
  const parsed = Records.safeParse(JSON.parse(text));
  if (!parsed.success) throw new JournalError(`line ${line} has a record of an unknown form`);
  return parsed.data;
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

const hex = (value: number): string => value.toString(16).padStart(8, '0');
