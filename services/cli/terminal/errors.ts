import { EXIT, type ExitCode } from './exit-codes.js';

interface FieldIssue {
  readonly path: string;
  readonly message: string;
}

interface CliErrorOptions extends ErrorOptions {
  readonly issues?: readonly FieldIssue[];
  readonly code?: string;
}

/** Ends a command with one sentence for a person and an exit code for a script; never with a stack trace. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly exitCode: ExitCode;
  readonly issues: readonly FieldIssue[];
  /** What refused it calls the reason; a program can tell by it. */
  readonly code: string | undefined;
  constructor(message: string, exitCode: ExitCode, options: CliErrorOptions = {}) {
    super(message, options);
    this.exitCode = exitCode;
    this.issues = options.issues ?? [];
    this.code = options.code;
  }
}

/** What was typed or handed over cannot be used; `issues` name the fields. */
export function badInput(message: string, issues: readonly FieldIssue[] = []): CliError {
  return new CliError(message, EXIT.badInput, { issues });
}

/** Nobody answers: no system, wrong address, or the service that is asked for is down. */
export function unreachable(message: string, cause?: unknown): CliError {
  return new CliError(message, EXIT.unreachable, { cause });
}

/** It is there, and can store nothing new now. */
export function cannotStore({ code, message }: { readonly code: string; readonly message: string }): CliError {
  return new CliError(message, EXIT.unreachable, { code });
}

export function failure(message: string, cause?: unknown): CliError {
  return new CliError(message, EXIT.failure, { cause });
}

/** The code of a system error, e.g. ENOENT. */
export function errorCode(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

export function messageOf(error: unknown): string {
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined;
  return typeof message === 'string' ? message : String(error);
}
