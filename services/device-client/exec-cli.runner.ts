import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { execa } from 'execa';
import { ToolFailure, type Tell } from '#libs/mcp';
import type { ExecCliResult } from '#proto';
import { EXEC_LIMITS, exitOf, minimalEnvironment, type ExecCliInput } from './exec-cli.js';
import { HeadTail } from './head-tail.js';
import { LiveOutput } from './live-output.runner.js';
import type { OutputFile, OutputFiles } from './output-files.js';
import { OutputSpool, removeOutputs, type SpoolOptions } from './output-spool.adapter.js';
import { ProcessGroup } from './process-group.runner.js';

// POSIX sh and not bash: every Linux has it, and a task that needs bash can say `bash -c`.
const SHELL = '/bin/sh';

const options = {
  // Its own process group, so that the whole command can be ended and Ctrl-C on the client ends none of it halfway.
  detached: true,
  extendEnv: false,
  // Output is taken in bounded memory and ends are made by us, for the whole group.
  buffer: false,
  cleanup: false,
  reject: false,
  stripFinalNewline: false,
} as const;

export interface ExecCliOptions {
  /** Made when it is missing; where commands start. */
  readonly jailDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  /** Absent: of a long output nothing but head and tail is kept. */
  readonly spool?: SpoolOptions | undefined;
}

export interface Executed {
  readonly result: ExecCliResult;
  /** Outputs of which the result holds only a part. */
  readonly files: OutputFiles;
}

/** Runs shell commands and never leaves one behind: each ends by itself, by its timeout, by its signal, or by `endAll`. */
export class ExecCli {
  private readonly groups = new Set<ProcessGroup>();
  private readonly env: Readonly<Record<string, string>>;

  constructor(private readonly options: ExecCliOptions) {
    this.env = minimalEnvironment(options.env);
  }

  /** Tells what the command writes while it runs, and answers with all of it that is kept. */
  async run(input: ExecCliInput, signal: AbortSignal, tell: Tell): Promise<ExecCliResult> {
    const { result, files } = await this.runWhole(input, signal, tell);
    await removeOutputs(this.options.spool, files);
    return result;
  }

  /** The same; whoever asks for the files has to remove them. */
  async runWhole(input: ExecCliInput, signal: AbortSignal, tell: Tell): Promise<Executed> {
    const cwd = await this.directory(input.working_directory);
    if (signal.aborted) throw new ToolFailure('The command was cancelled before it was started.');
    const timestamp = new Date(this.options.now()).toISOString();
    const startedAt = performance.now();
    const child = this.spawn(input, cwd);
    if (child.pid === undefined) throw new ToolFailure(`The command could not be started: ${await reasonOf(child)}`);
    const live = { stdout: new LiveOutput('stdout', tell), stderr: new LiveOutput('stderr', tell) };
    const { spool } = this.options;
    const output = {
      stdout: collect(child.stdout, live.stdout, spool),
      stderr: collect(child.stderr, live.stderr, spool),
    };
    const group = new ProcessGroup(child.pid);
    const shell = child.nodeChildProcess;
    this.groups.add(group);
    try {
      const { timedOut } = await this.follow(shell, group, input.timeout * 1_000, signal);
      for (const { spool: held } of Object.values(output)) held?.hurry();
      await drained(output.stdout.closed, output.stderr.closed);
      const result: ExecCliResult = {
        stdout: output.stdout.kept.text(),
        stderr: output.stderr.kept.text(),
        ...exitOf({ code: shell.exitCode, signal: shell.signalCode, timedOut }),
        command: input.command,
        execution_time: Math.round(performance.now() - startedAt) / 1_000,
        timestamp,
        stdout_bytes: output.stdout.kept.bytes,
        stderr_bytes: output.stderr.kept.bytes,
      };
      return { result, files: signal.aborted ? {} : await wholeOutputs(output, result) };
    } finally {
      for (const { spool: held } of Object.values(output)) await held?.discard();
      this.groups.delete(group);
      child.stdout.destroy();
      child.stderr.destroy();
      live.stdout.end();
      live.stderr.end();
    }
  }

  /** Ends every command that is running now. */
  async endAll(): Promise<void> {
    await Promise.all([...this.groups].map((group) => group.end()));
  }

  private spawn(input: ExecCliInput, cwd: string) {
    const env = { ...this.env, ...input.env };
    // Without input the command finds an end of file at once and not a pipe that nobody writes to.
    const stdin = input.stdin === undefined ? 'ignore' : new TextEncoder().encode(input.stdin);
    return execa(SHELL, ['-c', input.command], { ...options, cwd, env, stdin });
  }

  /** Waits for the shell's own end or makes one; in both cases nothing of the group is left. */
  private async follow(
    shell: ChildProcess,
    group: ProcessGroup,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<{ timedOut: boolean }> {
    const exited = shell.exitCode === null && shell.signalCode === null ? once(shell, 'exit') : Promise.resolve();
    const { promise: stopped, resolve: stop } = Promise.withResolvers<'timeout' | 'cancelled'>();
    const timer = setTimeout(() => stop('timeout'), timeoutMs);
    const cancel = (): void => stop('cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const first = await Promise.race([exited.then(() => 'exited' as const), stopped]);
      await group.end();
      await exited;
      return { timedOut: first === 'timeout' };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    }
  }

  private async directory(given: string | undefined): Promise<string> {
    const { jailDir } = this.options;
    await mkdir(jailDir, { recursive: true, mode: 0o700 });
    if (given === undefined) return jailDir;
    const path = resolve(jailDir, given);
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() !== true) throw new ToolFailure(`working_directory ${path} is not a directory.`);
    return path;
  }
}

interface Collected {
  readonly kept: HeadTail;
  readonly spool: OutputSpool | undefined;
  readonly closed: Promise<void>;
}

function collect(stream: Readable, live: LiveOutput, options: SpoolOptions | undefined): Collected {
  const valve = { pause: () => void stream.pause(), resume: () => void stream.resume() };
  const spool = options && new OutputSpool(options, valve);
  const kept = new HeadTail(EXEC_LIMITS.headBytesMax, EXEC_LIMITS.tailBytesMax);
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  stream.on('data', (chunk: Buffer) => {
    spool?.before(kept, chunk);
    kept.push(chunk);
    live.push(chunk);
  });
  stream.once('close', close);
  stream.once('end', close);
  stream.once('error', close);
  return { kept, spool, closed };
}

/** The files of the outputs that the result does not hold, or will not when it is made to fit into a frame. */
async function wholeOutputs(
  output: Readonly<Record<'stdout' | 'stderr', Collected>>,
  result: ExecCliResult,
): Promise<OutputFiles> {
  const fits = Buffer.byteLength(JSON.stringify(result)) <= EXEC_LIMITS.resultBytesMax;
  const fileOf = async ({ kept, spool }: Collected): Promise<OutputFile | undefined> => {
    if (!fits && kept.bytes > EXEC_LIMITS.neverCutBytes) await spool?.takeWhole(kept);
    return spool?.take();
  };
  const [stdout, stderr] = await Promise.all([fileOf(output.stdout), fileOf(output.stderr)]);
  return { ...(stdout && { stdout }), ...(stderr && { stderr }) };
}

/** Both streams to their ends, or as far as they come while somebody outside of the group holds them open. */
async function drained(...streams: Promise<void>[]): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, EXEC_LIMITS.drainMs);
  await Promise.race([Promise.all(streams), late]);
  clearTimeout(timer);
}

async function reasonOf(
  ended: PromiseLike<{ originalMessage?: string | undefined; shortMessage?: string | undefined }>,
): Promise<string> {
  const { originalMessage, shortMessage } = await ended;
  return originalMessage ?? shortMessage ?? 'unknown reason';
}
