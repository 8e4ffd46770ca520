import { type Dirent, lstatSync, readdirSync, readlinkSync } from 'node:fs';
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

/** Most paths are no links, and many are nothing: to ask for the target of those would make an error each time, which takes longer than to look. */
function target(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
