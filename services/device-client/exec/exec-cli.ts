import { constants } from 'node:os';
import { ExecCliResult, SecretRef } from '#proto';
import { OUTCOME_BYTES_MAX } from '../output/index.js';
import { z } from 'zod';

export const EXEC_LIMITS = {
  timeoutSecondsDefault: 30,
  timeoutSecondsMax: 24 * 60 * 60,
  /** The kernel takes no single argument of 128 KiB or more. */
  commandBytesMax: 128 * 1024 - 1,
  stdinCharsMax: 8 * 1024 * 1024,
  envMax: 256,
  /** Per stream: 1 MiB, half of it the beginning and half of it the end. */
  headBytesMax: 512 * 1024,
  tailBytesMax: 512 * 1024,
  /** As JSON, with something around it in its frame: of a longer result outputs are cut further. */
  resultBytesMax: OUTCOME_BYTES_MAX - 4 * 1024,
  /** No output of this length is ever cut. */
  neverCutBytes: 64 * 1024,
  /** After the end of the group only a process that left it on purpose can hold the output open. */
  drainMs: 200,
} as const;

const WITHOUT_NUL = /^[^\0]*$/;
const text = (what: string) => z.string().regex(WITHOUT_NUL, `${what} must not contain a NUL character`);

export const ExecCliInput = z.strictObject({
  command: text('command')
    .min(1)
    .refine((command) => Buffer.byteLength(command) <= EXEC_LIMITS.commandBytesMax, 'command is longer than 128 KiB')
    .describe('shell command line, run by /bin/sh -c'),
  timeout: z
    .number()
    .positive()
    .max(EXEC_LIMITS.timeoutSecondsMax)
    .default(EXEC_LIMITS.timeoutSecondsDefault)
    .describe('seconds until the command and everything it started is killed'),
  working_directory: text('working_directory')
    .min(1)
    .optional()
    .describe("default: the device's jail directory, from which a relative path starts"),
  stdin: z
    .union([z.string().max(EXEC_LIMITS.stdinCharsMax), SecretRef])
    .optional()
    .describe('what the command reads from its standard input: a text or a secret; default: empty'),
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'not the name of a variable'),
      z.union([text('a variable'), SecretRef]),
    )
    .refine((env) => Object.keys(env).length <= EXEC_LIMITS.envMax, `more than ${EXEC_LIMITS.envMax} variables`)
    .optional()
    .describe(
      'variables added to a minimal environment: texts, or secrets such as {"DB_PASSWORD": {"secret": "db-password"}}',
    ),
});
export type ExecCliInput = z.infer<typeof ExecCliInput>;

export const EXEC_CLI_DEFINITION = {
  name: 'EXEC_CLI',
  title: 'Run a shell command',
  description:
    'Runs one command line with /bin/sh -c and returns its output, exit code and duration. ' +
    'The command ends with its shell: what it left in the background is killed. ' +
    'A password or key is never written into the command: it is given as a secret in env or stdin. ' +
    'exit_code is 124 after a timeout, 126 or 127 when the program cannot be run or found, 128+n after signal n.',
  input: ExecCliInput,
  output: ExecCliResult,
  readOnly: false,
} as const;

const INHERITED = /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_[A-Z]+|TZ|TMPDIR)$/;
const PATH_DEFAULT = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What a command finds in its environment: names listed here and nothing else, so no secret of ours leaks by a new name. */
export function minimalEnvironment(own: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const env: Record<string, string> = { PATH: PATH_DEFAULT, SHELL: '/bin/sh', TERM: 'dumb' };
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && INHERITED.test(name)) env[name] = value;
  }
  // Of a place relative to where a command starts anybody who may write there could say what `ls` means.
  const path = (env['PATH'] ?? '').split(':').filter((directory) => directory.startsWith('/'));
  env['PATH'] = path.length === 0 ? PATH_DEFAULT : path.join(':');
  return env;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
}

/** The exit code as a shell would report it, and the status that follows. */
export function exitOf({ code, signal, timedOut }: ProcessEnd): Pick<ExecCliResult, 'exit_code' | 'status'> {
  if (timedOut) return { exit_code: 124, status: 'TIMEOUT' };
  const exitCode = code ?? (signal === null ? 1 : 128 + constants.signals[signal]);
  return { exit_code: exitCode, status: exitCode === 0 ? 'SUCCESS' : 'ERROR' };
}
