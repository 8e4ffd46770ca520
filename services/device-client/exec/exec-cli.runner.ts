import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { mkdir, open, realpath, stat, unlink, type FileHandle } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { ToolFailure, type Tell } from '#libs/mcp';
import { type CommandWall, type ExecCliResult, type SecretRef, WORKSPACE_VARIABLE } from '#proto';
import { exitOf, minimalEnvironment, type ExecCliInput } from './exec-cli.js';
import { type ExecSettings, isWithin, wrapped, type WrappedCommand } from './exec-settings.js';
import { OutputFeed, type OutputFiles, removeOutputs } from '../output/index.js';
import { collect, outputsEnded, wholeOutputs } from './collected-output.runner.js';
import { limitOfExit } from './command-limits.js';
import { watchLimits } from './limit-watch.runner.js';
import { endMarked, MARK_VARIABLE } from './marked-processes.runner.js';
import { ProcessGroup } from './process-group.runner.js';
import type { ExecLimits } from '../sandbox/index.js';
import type { SecretStore } from '../secrets/index.js';
import { STDIN_FILE_NAME } from './stdin-file.js';

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
  readonly settings: ExecSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly secrets?: Pick<SecretStore, 'refresh' | 'valueOf'> | undefined;
}

/** Who runs a command. */
export interface CommandCaller {
  readonly signal: AbortSignal;
  readonly tell: Tell;
  /** An agent, and not a person who wrote it. */
  readonly isAgents: boolean;
  /** How the policy judged it; undefined: nobody has said so. */
  readonly wall?: CommandWall | undefined;
  /** The directory of its run, which is there. */
  readonly workspace?: string | undefined;
  /** The name of a file with what the command reads, instead of the `stdin` of its arguments. */
  readonly stdinFile?: string | undefined;
}

export interface Executed {
  readonly result: ExecCliResult;
  /** Outputs of which the result holds only a part. */
  readonly files: OutputFiles;
  /** Which limit has ended it, one sentence; undefined: none that is known. */
  readonly limit?: string | undefined;
}

/** Runs shell commands and never leaves one behind: each ends by itself, by its timeout, by its signal, or by `endAll`. */
export class ExecCli {
  /** What ends each command that is running. */
  readonly #running = new Set<() => Promise<void>>();
  readonly #env: Readonly<Record<string, string>>;

  readonly #options: ExecCliOptions;

  constructor(options: ExecCliOptions) {
    this.#options = options;

    const { runAs } = options.settings;
    const own = runAs === null ? {} : { HOME: runAs.home, USER: runAs.name, LOGNAME: runAs.name };
    this.#env = { ...minimalEnvironment(options.env), ...own };
  }

  /** Tells what the command writes while it runs, and answers with all of it that is kept. */
  async run(input: ExecCliInput, signal: AbortSignal, tell: Tell): Promise<ExecCliResult> {
    const { result, files } = await this.runWhole(input, { signal, tell, isAgents: false });
    await removeOutputs(this.#options.settings.spool ?? undefined, files);
    return result;
  }

  /** The same; the caller that asks for the files has to remove them. */
  async runWhole(
    input: ExecCliInput,
    { signal, tell, isAgents, wall, workspace, stdinFile }: CommandCaller,
  ): Promise<Executed> {
    const cwd = await this.#directory(input.working_directory, workspace);
    const redactor = await this.#options.secrets?.refresh();
    const mark = randomUUID();
    const given = this.#given(input, mark, workspace);
    if (signal.aborted) throw cancelledBefore();
    const stdin = stdinFile === undefined ? undefined : await this.#stdinFrom(stdinFile);
    const place = {
      command: input.command,
      cwd,
      isAgents,
      workspace,
      wall,
      env: given.env,
      given: Object.keys(input.env ?? {}),
    };
    const how = await wrapped(this.#options.settings, place);
    const timestamp = new Date(this.#options.now()).toISOString();
    const startedAt = performance.now();
    // Here for the last time: from its start on somebody listens.
    if (signal.aborted) {
      await Promise.all([stdin, how.input].map(async (file) => file?.close()));
      throw cancelledBefore();
    }
    const child = this.#spawn(given.stdin, { ...how, cwd }, stdin?.fd);
    // The process has its own by now, or never will. Nobody waits for it here: what is printed before somebody listens is lost.
    const closed = Promise.all([stdin, how.input].map(async (file) => file?.close().catch(() => undefined)));
    if (child.pid === undefined) throw new ToolFailure(`The command could not be started: ${await reasonOf(child)}`);
    const live = { stdout: new OutputFeed('stdout', tell), stderr: new OutputFeed('stderr', tell) };
    const spool = this.#options.settings.spool ?? undefined;
    const output = {
      stdout: collect(child.stdout, live.stdout, { spool, redactor }),
      stderr: collect(child.stderr, live.stderr, { spool, redactor }),
    };
    const group = new ProcessGroup(child.pid, how.isWalled);
    const command = { mark, pid: child.pid, startedMs: startedAt };
    const shell = child.nodeChildProcess;
    const { limits } = how;
    let ending: Promise<void> | undefined;
    // Once for all that ask at a time: to a second search a process that is being killed looks like none, before it is gone.
    const end = (): Promise<void> =>
      (ending ??= (async () => {
        await group.end();
        // Behind a wall nothing outlives its first process, which is of the group.
        if (!how.isWalled) await endMarked(command, performance.now());
      })().finally(() => (ending = undefined)));
    this.#running.add(end);
    try {
      const { timedOut, limit } = await this.#follow({ shell, group, end, limits }, input.timeout * 1_000, signal);
      for (const { spool: held } of Object.values(output)) held?.hurry();
      await outputsEnded(output.stdout.closed, output.stderr.closed);
      for (const { close } of Object.values(output)) close();
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
      return {
        result,
        files: signal.aborted ? {} : await wholeOutputs(output, result),
        limit: limit ?? limitOfExit(result.exit_code, limits),
      };
    } finally {
      for (const { spool: held } of Object.values(output)) await held?.discard();
      this.#running.delete(end);
      child.stdout.destroy();
      child.stderr.destroy();
      live.stdout.end();
      live.stderr.end();
      await closed;
    }
  }

  /** Ends every command that is running now. */
  async endAll(): Promise<void> {
    await Promise.all([...this.#running].map((end) => end()));
  }

  /** Secrets become values here and nowhere before: what is given to the process, and not what is said of it. */
  #given({ env = {}, stdin }: ExecCliInput, mark: string, workspace: string | undefined): Given {
    const valueOf = (text: string | SecretRef): string => {
      if (typeof text === 'string') return text;
      const value = this.#options.secrets?.valueOf(text.secret);
      if (value === undefined) throw new ToolFailure(`This device has no secret "${text.secret}".`);
      return value;
    };
    const own = workspace === undefined ? {} : { [WORKSPACE_VARIABLE]: workspace };
    const variables = Object.entries(env).map(([name, text]) => [name, valueOf(text)] as const);
    return {
      env: { ...this.#env, ...Object.fromEntries(variables), [MARK_VARIABLE]: mark, ...own },
      // Without input the command finds an end of file at once and not a pipe that nobody writes to.
      stdin: stdin === undefined ? 'ignore' : new TextEncoder().encode(valueOf(stdin)),
    };
  }

  /** Opened, it needs its name no more: with the last process that reads it, it is gone from the disk, however that ends. */
  async #stdinFrom(name: string): Promise<FileHandle> {
    const { inputsDir } = this.#options.settings;
    if (inputsDir === null || !STDIN_FILE_NAME.test(name)) throw new ToolFailure('There is no such input.');
    const path = join(inputsDir, name);
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => {
      throw new ToolFailure('What the command reads is not there any more.');
    });
    await unlink(path).catch(() => undefined);
    return handle;
  }

  #spawn(text: Given['stdin'], how: WrappedCommand & { readonly cwd: string }, stdin: number | undefined) {
    const { file, args, runAs, env, input: data, cwd } = how;
    // With the user the groups of the client are dropped, too.
    const user = runAs === null ? {} : { uid: runAs.uid, gid: runAs.gid };
    // Any descriptor can be handed over; only the types know no more than a few.
    const input = stdin === undefined ? text : (stdin as 3);
    const stdio = [input, 'pipe', 'pipe', ...(data === undefined ? [] : [data.fd as 3])] as const;
    return execa(file, args, { ...options, env, stdio, ...user, cwd });
  }

  /** Waits for the shell's own end or makes one; in every case nothing of the command is left. */
  async #follow(
    { shell, group, end, limits }: Followed,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<{ timedOut: boolean; limit?: string | undefined }> {
    const exited = shell.exitCode === null && shell.signalCode === null ? once(shell, 'exit') : Promise.resolve();
    const { promise: stopped, resolve: stop } = Promise.withResolvers<'timeout' | 'cancelled'>();
    const timer = setTimeout(() => stop('timeout'), timeoutMs);
    const cancel = (): void => stop('cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    const watch = watchLimits(group.id, limits);
    try {
      const limited = watch.reached.then((limit) => ({ limit }));
      const first = await Promise.race([exited.then(() => 'exited' as const), stopped, limited]);
      const limit = typeof first === 'object' ? first.limit : undefined;
      // It is not asked: what floods a machine would go on for as long as it may.
      if (limit !== undefined) group.signal('SIGKILL');
      await end();
      await exited;
      return { timedOut: first === 'timeout', limit };
    } finally {
      watch.stop();
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    }
  }

  async #directory(given: string | undefined, workspace: string | undefined): Promise<string> {
    const { jailDir, confined } = this.#options.settings;
    await mkdir(jailDir, { recursive: true, mode: 0o700 });
    const start = workspace ?? jailDir;
    if (given === undefined) return start;
    const path = resolve(start, given);
    const found = await stat(path).catch(() => undefined);
    // Links are followed before the look: where it really is decides.
    const [real, jail] = [await realpath(path).catch(() => path), await realpath(jailDir)];
    const isInside = isWithin(real, jail) || (workspace !== undefined && isWithin(real, workspace));
    if (confined && !isInside) throw new ToolFailure(`working_directory ${path} is outside of ${jailDir}.`);
    if (found?.isDirectory() !== true) throw new ToolFailure(`working_directory ${path} is not a directory.`);
    return confined ? real : path;
  }
}

const cancelledBefore = (): ToolFailure => new ToolFailure('The command was cancelled before it was started.');

/** A command that runs, and how everything of it is ended. */
interface Followed {
  readonly shell: ChildProcess;
  readonly group: ProcessGroup;
  readonly end: () => Promise<void>;
  readonly limits: ExecLimits;
}

/** What a process gets that its arguments do not show. */
interface Given {
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: 'ignore' | Uint8Array;
}

async function reasonOf(
  ended: PromiseLike<{ originalMessage?: string | undefined; shortMessage?: string | undefined }>,
): Promise<string> {
  const { originalMessage, shortMessage } = await ended;
  return originalMessage ?? shortMessage ?? 'unknown reason';
}
