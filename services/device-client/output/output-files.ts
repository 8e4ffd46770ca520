import { Sha256 } from '#proto';
import { z } from 'zod';

/*
 * Whole outputs travel as files between the process that runs commands and the client, which has the connection. The answer
 * names them in `_meta`: they are no part of the result, and another client of the tools would not miss them.
 */
export const OUTPUT_FILES_META = 'orrery/output-files';

/** A name in the directory for outputs, made by the process that runs commands. */
const FileName = z.string().regex(/^[0-9a-f]{32}$/);

const OutputFile = z.strictObject({
  /** Null: nothing is kept, `error` says why. */
  file: z.strictObject({ name: FileName, sha256: Sha256, bytes: z.int().min(0) }).nullable(),
  /** Why it is not there, or not the whole. */
  error: z.string().max(1_000).nullable(),
});
export type OutputFile = z.infer<typeof OutputFile>;

export const OutputFiles = z.strictObject({ stdout: OutputFile.optional(), stderr: OutputFile.optional() });
export type OutputFiles = z.infer<typeof OutputFiles>;

export const OUTPUT_LIMITS = {
  /** Written and not on its way to the disk yet: then the command waits. */
  pendingBytesMax: 1024 * 1024,
  /** A disk that lets a command wait for longer is left alone. */
  stalledMsMax: 5_000,
  /** Free space that is left to others, first of all to the journal. */
  freeBytesMin: 256 * 1024 * 1024,
  /** How often free space is looked at. */
  lookEveryBytes: 8 * 1024 * 1024,
  /** Without anything moving for this long a result goes without its outputs. */
  patienceMs: 10_000,
} as const;
