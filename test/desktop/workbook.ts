import { inflateRawSync } from 'node:zlib';

const STORED = 0;
const [ENTRY_BYTES, HEADER_BYTES] = [46, 30];

/** The text of one file of a workbook, which is an archive; empty when there is none of this name, or it is not whole yet. */
export function partOf(archive: Buffer, name: string): string {
  const end = archive.lastIndexOf('PK\u0005\u0006', undefined, 'latin1');
  if (end < 0) return '';
  const [entries, first] = [archive.readUInt16LE(end + 10), archive.readUInt32LE(end + 16)];
  for (let entry = 0, at = first; entry < entries; entry++) {
    const [method, size] = [archive.readUInt16LE(at + 10), archive.readUInt32LE(at + 20)];
    const [named, extra, comment] = [28, 30, 32].map((field) => archive.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    if (archive.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + named) === name) {
      const local = archive.readUInt32LE(at + 42);
      const from = local + HEADER_BYTES + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
      const data = archive.subarray(from, from + size);
      return (method === STORED ? data : inflateRawSync(data)).toString('utf8');
    }
    at += ENTRY_BYTES + named + extra + comment;
  }
  return '';
}
