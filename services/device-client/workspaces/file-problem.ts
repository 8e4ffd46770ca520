import { FILE_ENDS, LIMITS, type FileEnd } from '#proto';

/** Why files of a workspace do not move: a code, and one sentence for people. */
export class FileProblem extends Error {
  readonly code: FileEnd;

  constructor(code: FileEnd, message: string) {
    super(message);
    this.code = code;
  }
}

export const missing = (pattern: string): FileProblem =>
  new FileProblem(FILE_ENDS.missing, `there is no file for ${named(pattern)} in the workspace`);

export const refusedFile = (path: string, why: string): FileProblem =>
  new FileProblem(FILE_ENDS.refused, `${named(path)} ${why}`);

export const clash = (path: string, why: string): FileProblem =>
  new FileProblem(FILE_ENDS.clash, `${named(path)} cannot be written: ${why}`);

export const changed = (path: string): FileProblem =>
  new FileProblem(FILE_ENDS.changed, `${named(path)} changes while it is read`);

export const tooLarge = (path: string, bytes: number): FileProblem =>
  new FileProblem(
    FILE_ENDS.tooLarge,
    `${named(path)} has ${bytes} bytes, and a file has at most ${LIMITS.fileBytesMax}`,
  );

export const tooMuch = (bytes: number): FileProblem =>
  new FileProblem(
    FILE_ENDS.tooLarge,
    `the files have ${bytes} bytes together, and those of a task have at most ${LIMITS.filesBytesMax}`,
  );

export const tooMany = (pattern: string | undefined): FileProblem =>
  new FileProblem(
    FILE_ENDS.tooMany,
    `a task has at most ${LIMITS.filesMax} files${pattern === undefined ? '' : `, and more were found by ${named(pattern)}`}`,
  );

export const diskFull = (
  path: string | undefined,
  room: { readonly needed: number; readonly free: number },
): FileProblem =>
  new FileProblem(
    FILE_ENDS.diskFull,
    `the disk of the device has ${room.free} bytes free${path === undefined ? '' : ` for ${named(path)}`}, and ${room.needed} are needed (what comes, and ${LIMITS.fileDiskBytesFree} that stay free)`,
  );

const NAME_CHARS_MAX = 200;
/** What steers a terminal, turns text around or cannot be seen. */
const UNSEEN = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** A name as a disk has it, for people: nothing of it takes effect. */
export const named = (name: string): string => {
  const shown = name.length > NAME_CHARS_MAX ? `${name.slice(0, NAME_CHARS_MAX).toWellFormed()}...` : name;
  return JSON.stringify(shown.toWellFormed()).replaceAll(
    UNSEEN,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
};
