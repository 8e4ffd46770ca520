import { ArtifactRef, Instant, LIMITS } from '#proto';
import { z } from 'zod';

export const FILE_TOOL_LIMITS = {
  pathCharsMax: 4_096,
  timeoutSecondsDefault: 60 * 60,
  timeoutSecondsMax: 24 * 60 * 60,
  /** A file that is written to while it is sent is read again so often. */
  readingsMax: 3,
} as const;

const path = z
  .string()
  .min(1)
  .max(FILE_TOOL_LIMITS.pathCharsMax)
  .regex(/^[^\0]*$/, 'path must not contain a NUL character')
  .describe("a relative path starts from the device's jail directory");
const timeout = z
  .number()
  .positive()
  .max(FILE_TOOL_LIMITS.timeoutSecondsMax)
  .default(FILE_TOOL_LIMITS.timeoutSecondsDefault)
  .describe('seconds until it is given up');
const artifact = ArtifactRef.refine(
  ({ bytes }) => bytes <= LIMITS.fileBytesMax,
  `a file has at most ${LIMITS.fileBytesMax} bytes`,
);

export const FILE_GET = {
  name: 'FILE_GET',
  title: 'Store a file as an artifact',
  description:
    'Reads a file of this machine and stores it as an artifact, named by the SHA-256 of its content. ' +
    'Only files below the jail directory, or below a directory that the configuration of the device allows, ' +
    'and none that contains a secret of the device.',
  input: z.strictObject({ path, timeout }),
  output: z.strictObject({ artifact, path: z.string(), bytes: z.int(), modified: Instant }),
  readOnly: true,
} as const;

export const FILE_PUT = {
  name: 'FILE_PUT',
  title: 'Write an artifact into a file',
  description:
    'Writes an artifact into a file of this machine, whole or not at all; missing directories are made. ' +
    'Only below the jail directory, or below a directory that the configuration of the device allows.',
  input: z.strictObject({
    artifact: artifact.describe('as FILE_GET named it'),
    path,
    mode: z
      .string()
      .regex(/^0?[0-7]{3}$/, 'mode is three octal digits such as "644"')
      .optional()
      .describe('default: that of the file that is replaced, or 600'),
    overwrite: z.boolean().default(false).describe('whether a file that is there may be replaced'),
    timeout,
  }),
  output: z.strictObject({ artifact, path: z.string(), bytes: z.int(), mode: z.string(), replaced: z.boolean() }),
  readOnly: false,
} as const;

export type FileGetInput = z.infer<typeof FILE_GET.input>;
export type FilePutInput = z.infer<typeof FILE_PUT.input>;
