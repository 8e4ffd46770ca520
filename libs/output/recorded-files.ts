import { placeOfOutput, NoSuchOutputError, type RecordedCommand } from './recorded-commands.js';
import type { ArtifactRef, ResultFile } from '#proto';

/** A file that a command answered with. */
export interface RecordedFile {
  readonly command: RecordedCommand;
  readonly file: ResultFile;
}

/** A file whose content is kept. */
export interface KeptFile extends ResultFile {
  readonly artifact: ArtifactRef;
}

const NAMES_MAX = 20;

/** The files of commands, each where it came from: what an agent's task names of its commands is not told twice. */
export function recordedFiles(commands: readonly RecordedCommand[]): RecordedFile[] {
  const all = commands.flatMap((command) => (command.result?.files ?? []).map((file) => ({ command, file })));
  const direct = new Set(all.flatMap((one) => (one.command.commandId === null ? [] : [keyOf(one)])));
  return all.filter((one) => one.command.commandId !== null || !direct.has(keyOf(one)));
}

/**
 * The file of this name or path, of each task that of its last attempt. Throws NoSuchOutputError when there is none, more than one, or none that
 * is kept.
 */
export function recordedFileNamed(commands: readonly RecordedCommand[], name: string): KeptFile {
  const files = recordedFiles(commands);
  const exact = files.filter(({ file }) => (file.path ?? file.name) === name);
  const named = exact.length > 0 ? exact : files.filter(({ file }) => file.name === name);
  const last = named.filter((one) => one.command.attempt === lastAttempt(named, one));
  const [found] = last;
  if (found === undefined) throw new NoSuchOutputError(`No file "${name}" is recorded; there is ${namesOf(files)}.`);
  if (last.some(({ file }) => file.artifact?.sha256 !== found.file.artifact?.sha256)) {
    const places = last.slice(0, NAMES_MAX).map((one) => placeIn(one, name));
    throw new NoSuchOutputError(
      `There is more than one file "${name}": ${places.join(', ')}; say ${exact.length > 0 ? '' : 'its path, or '}which task and step.`,
    );
  }
  const { artifact, problem } = found.file;
  if (artifact === undefined)
    throw new NoSuchOutputError(`The file "${name}" has no content: ${problem ?? 'it is not kept'}.`);
  return { ...found.file, artifact };
}

function placeIn({ command, file: { path } }: RecordedFile, name: string): string {
  const place = placeOfOutput(command);
  return path === undefined || path === name ? place : `"${path}" of ${place}`;
}

function lastAttempt(files: readonly RecordedFile[], { command: { taskId } }: RecordedFile): number {
  return Math.max(...files.flatMap(({ command }) => (command.taskId === taskId ? [command.attempt] : [])));
}

const keyOf = ({ command: { taskId, attempt }, file: { name, path, artifact } }: RecordedFile): string =>
  `${taskId}/${attempt}/${artifact?.sha256 ?? ''}/${path ?? name}`;

function namesOf(files: readonly RecordedFile[]): string {
  const names = [...new Set(files.map(({ file }) => `"${file.path ?? file.name}"`))];
  if (names.length === 0) return 'no file';
  return `${names.slice(0, NAMES_MAX).join(', ')}${names.length > NAMES_MAX ? ', ...' : ''}`;
}
