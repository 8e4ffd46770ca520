import { posix } from 'node:path';

/** The files of the device that judges, as far as a dialog is concerned. */
export interface RealPlaces {
  /** Where commands begin, by all its absolute paths: that of the run is called `.`. */
  readonly starts: readonly { readonly paths: readonly string[]; readonly as: string }[];
  /** What lies in a folder; undefined when that is too much to look at. */
  names(folder: string): readonly string[] | undefined;
  /** Where a path leads; undefined where it leads to itself. */
  real(path: string): string | undefined;
}

/** Names that every program reads as they are: not hidden, no home, no pattern, nothing that is not seen, no space at an end. */
const PLAIN_NAME = /^[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_ .()+,=@-]*[\p{L}\p{M}\p{N}_()+=@-])?$/u;

/**
 * Whether a text is the whole path of something in the directory of its run, which lies where it is written. `links`: the files of the
 * device that judges, which follows them; without them only what is written is judged.
 */
export function isInRun(text: string, directory: string | undefined, links: RealPlaces | undefined): boolean {
  if (directory === undefined || !/^\/./u.test(directory) || posix.resolve(directory) !== directory) return false;
  if (!text.startsWith(`${directory}/`) || text.normalize('NFC') !== text) return false;
  const names = text.slice(directory.length + 1).split('/');
  return names.every((name) => PLAIN_NAME.test(name)) && (links === undefined || liesThere(text, directory, links));
}

/** No link is on the way, and none is called as a program may call its file: it adds the ending that fits. */
function liesThere(text: string, directory: string, links: RealPlaces): boolean {
  const isOfRun = links.starts.some(({ paths, as }) => as === '.' && paths.includes(directory));
  const folder = posix.dirname(text);
  const near = links.names(folder)?.filter((name) => name.startsWith(posix.basename(text)));
  if (!isOfRun || near === undefined) return false;
  return [text, ...near.map((name) => posix.join(folder, name))].every((path) => links.real(path) === undefined);
}
