import { type Dirent, readdirSync, readlinkSync } from 'node:fs';
import { type Entry, type Links, linksIn, type Starts } from '../calls/index.js';

/** The files of this device as a policy asks for them: a moment before a command runs, not while it does. */
export const deviceLinks = (starts: Starts): Links => linksIn({ target, entries }, starts);

function entries(folder: string): readonly Entry[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  } catch {
    return [];
  }
}

const kindOf = (entry: Dirent): Entry['kind'] =>
  entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'file';

function target(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
