import { z } from 'zod';
import { FileMode, FileName, FilePath } from './files.js';
import { Json, Sha256 } from './ids.js';
import { LIMITS } from './limits.js';

/** Where the whole of a value lies when it did not fit into an event. */
export const ArtifactRef = z.strictObject({ sha256: Sha256, bytes: z.int().min(0) });
export type ArtifactRef = z.infer<typeof ArtifactRef>;

/** `image/png`; without parameters. */
export const MediaType = z
  .string()
  .regex(/^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/, 'a media type has the form image/png');
export type MediaType = z.infer<typeof MediaType>;

/** A file that a tool answered with: an image, a sound, a resource. Name and type are what the tool said, as far as they can be used. */
export const ResultFile = z.strictObject({
  name: FileName,
  mediaType: MediaType,
  /** Where its content lies; absent: it is not kept, and `problem` says why. */
  artifact: ArtifactRef.optional(),
  /** What is wrong with it: words of a device. */
  problem: z.string().max(300).optional(),
  /** Of a file of a workspace: where it lies there, and its permissions. */
  path: FilePath.optional(),
  mode: FileMode.optional(),
});
export type ResultFile = z.infer<typeof ResultFile>;

/** `image-1.png: image/png, 12345 bytes, SHA-256 9f86…`, `logs/a.log: mode 644, …`, or what is wrong with it: words of a device. */
export function fileText({ name, mediaType, artifact, problem, path, mode }: ResultFile): string {
  const where = artifact === undefined ? [] : [`${artifact.bytes} bytes`, `SHA-256 ${artifact.sha256}`];
  if (path !== undefined) return `${path}: ${[`mode ${mode ?? 'unknown'}`, ...where].join(', ')}`;
  return `${name}: ${[mediaType, ...where, ...(problem === undefined ? [] : [problem])].join(', ')}`;
}

export const ResultFiles = z.array(ResultFile).min(1).max(LIMITS.resultFilesMax);

/**
 * What a tool answered. `value` is at most 16 KiB as JSON; when the answer was longer, its long strings are cut to head
 * and tail in `value`, `cut` names them, and `artifact` holds the whole answer as JSON.
 */
export const TaskResult = z.strictObject({
  value: Json,
  cut: z.array(z.string()).optional(),
  artifact: ArtifactRef.optional(),
  /** Strings of which nobody has the whole: the device could not send it, and has cut them. */
  incomplete: z.array(z.string()).optional(),
  /** Files that came with it: those that the task leaves for others, first; of an agent's task those of its commands. */
  files: ResultFiles.optional(),
  /** Where the task leaves more than `files` can name: how many, and the list of all as JSON. */
  fileList: z
    .strictObject({ files: z.int().min(1).max(LIMITS.filesMax), bytes: z.int().min(0), artifact: ArtifactRef })
    .optional(),
});
export type TaskResult = z.infer<typeof TaskResult>;

/** The files of a result, one after the other, and of how many more there is a list. */
export function fileTexts({ files = [], fileList }: Pick<TaskResult, 'files' | 'fileList'>): string[] {
  if (fileList === undefined) return files.map(fileText);
  const { files: all, bytes, artifact } = fileList;
  const more = `${all} files in all, ${bytes} bytes; the list of them: SHA-256 ${artifact.sha256}`;
  return [...files.map(fileText), more];
}

/** How many files came with a result. */
export const fileCount = ({ files = [], fileList }: Pick<TaskResult, 'files' | 'fileList'>): number =>
  Math.max(files.length, fileList?.files ?? 0);

/** Why a task failed, and whether anybody knows what happened on the device. */
export const FailureOutcome = z.enum(['failed', 'timed_out', 'cancelled', 'device_lost', 'unknown']);
export type FailureOutcome = z.infer<typeof FailureOutcome>;

export const TaskError = z.strictObject({
  code: z.string().regex(/^[A-Z][A-Z0-9_]{1,63}$/),
  message: z.string(),
  outcome: FailureOutcome,
  /** Nothing of it was handed to a device, so trying again does nothing twice. Absent where that is not certain. */
  sent: z.literal(false).optional(),
  output: TaskResult.optional(),
});
export type TaskError = z.infer<typeof TaskError>;

/**
 * Code of a task that was not begun because what it takes of a predecessor cannot be delivered whole: it is not kept, too
 * large, damaged, or its device cannot take it.
 */
export const INPUT_UNAVAILABLE = 'INPUT_UNAVAILABLE';

/** An agent has met work that belongs on another device: who plans the run sees to it, and the same try again would come to the same. */
export const NEEDS_DEVICE = 'NEEDS_DEVICE';

/** Result of EXEC_CLI. `exit_code` is 124 after a timeout, 126 and 127 as the shell gives them, 128+n after signal n. */
export const ExecCliResult = z.strictObject({
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.int(),
  command: z.string(),
  execution_time: z.number().describe('seconds'),
  timestamp: z.string(),
  status: z.enum(['SUCCESS', 'ERROR', 'TIMEOUT']),
  stdout_bytes: z.int().optional().describe('bytes before the cap'),
  stderr_bytes: z.int().optional().describe('bytes before the cap'),
  stdout_artifact: ArtifactRef.optional().describe('the whole of stdout, where this result does not hold it'),
  stderr_artifact: ArtifactRef.optional().describe('the whole of stderr, where this result does not hold it'),
  artifact_error: z.string().optional().describe('why a whole output is not stored, or not all of it'),
});
export type ExecCliResult = z.infer<typeof ExecCliResult>;

export const SysInfoType = z.enum(['memory', 'disk', 'cpu', 'network', 'hardware', 'os']);
export type SysInfoType = z.infer<typeof SysInfoType>;

export const SysInfoResult = z.strictObject({ info_type: SysInfoType, data: Json, timestamp: z.string() });
export type SysInfoResult = z.infer<typeof SysInfoResult>;
