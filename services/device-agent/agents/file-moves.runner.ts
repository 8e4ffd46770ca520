import {
  type CommandCall,
  filePatternOf,
  type Json,
  matchesGlob,
  placeOfCommand,
  WORKSPACE_IN,
  WORKSPACE_OUT,
  workspaceCommandIdOf,
  WorkspaceInInput,
  WorkspaceOutResult,
  type WorkspaceFile,
  type WorkspaceTool,
} from '#proto';
import { type AgentEnding, type CommandRecord, Ends, filesToBring } from '#libs/attempt';
import type { AttemptSession } from '../live/index.js';
import { type InputSources, readFileSources, storedBytes, storedFiles, wholeOf } from '../inputs/index.js';
import type { StepCommands } from './step-command.runner.js';

/**
 * Moves the files of one attempt: brings what it takes before anything of it begins, and stores what it leaves when it is done. Both
 * are commands of the attempt with ids of their own, so that nothing is moved twice whoever goes on with it.
 */
export class FileMoves {
  readonly #sources: InputSources;
  readonly #session: AttemptSession;
  readonly #commands: StepCommands;

  constructor(sources: InputSources, session: AttemptSession, commands: StepCommands) {
    this.#sources = sources;
    this.#session = session;
    this.#commands = commands;
  }

  /** What lies in the workspace now of what others have left. Throws Ends when it cannot, and Halt when the attempt is not to go on. */
  async bring(): Promise<readonly WorkspaceFile[]> {
    const taken = this.#session.live.order.start.files?.in ?? [];
    if (taken.length === 0) return [];
    const files = this.#recorded() ?? (await this.#wanted(taken));
    if (files.length === 0) return [];
    const record = await this.#carryOut(WORKSPACE_IN, { files: files as unknown as Json });
    const failed = failureOf(record);
    if (failed !== null) throw new Ends(failed);
    return files;
  }

  /** The end with what the task leaves; one that is none is left alone. */
  async collect(ending: AgentEnding): Promise<AgentEnding> {
    const { out } = this.#session.live.order.start.files ?? {};
    if (out === undefined || ending.kind === 'failed') return ending;
    const record = await this.#carryOut(WORKSPACE_OUT, { patterns: out });
    const failed = failureOf(record);
    const { result, ...rest } = ending;
    if (failed !== null) return { ...failed, output: result, ...(rest.notes && { notes: rest.notes }) };
    const { artifacts } = this.#sources;
    const answer = record.finished?.result ?? { value: null };
    const parsed = WorkspaceOutResult.safeParse(await wholeOf(answer, artifacts));
    const wrong = parsed.success ? await this.#wrongOf(parsed.data.files, out) : 'it cannot be read';
    if (!parsed.success || wrong !== undefined) return { ...liar(wrong), output: result };
    return { ...ending, left: await storedFiles(parsed.data.files, artifacts) };
  }

  /** Who takes them would find out else, and it is not the fault of that one. */
  async #wrongOf(files: readonly WorkspaceFile[], patterns: readonly string[]): Promise<string | undefined> {
    const globs = patterns.map((pattern) => filePatternOf(pattern));
    const stray = files.find(({ path }) => !globs.some(({ glob }) => matchesGlob(path, glob)));
    if (stray !== undefined) return `it names "${stray.path}", which was not asked for`;
    for (const { path, sha256, bytes } of files)
      if ((await storedBytes(sha256, this.#sources.artifacts)) !== bytes)
        return `"${path}" is not stored as it says: ${bytes} bytes with the SHA-256 ${sha256}`;
    return undefined;
  }

  /** What was asked for before, so that it is asked for again as it was. */
  #recorded(): readonly WorkspaceFile[] | undefined {
    const { book, live } = this.#session;
    const { issued } = book.commands.get(workspaceCommandIdOf(live.order.key, WORKSPACE_IN)) ?? { issued: null };
    return issued === null ? undefined : WorkspaceInInput.parse(issued.command.arguments).files;
  }

  async #wanted(taken: Parameters<typeof readFileSources>[1]): Promise<readonly WorkspaceFile[]> {
    const wanted = filesToBring(await readFileSources(this.#session.live.order.key, taken, this.#sources));
    if (wanted.kind === 'files') return wanted.files;
    throw new Ends({ kind: 'failed', code: wanted.code, message: wanted.message });
  }

  async #carryOut(tool: WorkspaceTool, args: CommandCall['arguments']): Promise<CommandRecord> {
    const id = workspaceCommandIdOf(this.#session.live.order.key, tool);
    const { step, index } = placeOfCommand(id) ?? { step: 0, index: 0 };
    const asker = { agent: 'files', thought: '', plan: [] };
    await this.#commands.carryOut({ step, index, command: { tool, arguments: args }, origin: 'requester', asker });
    const record = this.#session.book.commands.get(id);
    if (record === undefined) throw new Error(`what became of ${id} is not recorded`);
    return record;
  }
}

type Failed = Extract<AgentEnding, { kind: 'failed' }>;

const liar = (wrong: string | undefined): Failed => ({
  kind: 'failed',
  code: 'INVALID_ANSWER',
  message: `what its device says of the files that it has stored is not so: ${wrong}`,
});

function failureOf({ finished }: CommandRecord): Failed | null {
  if (finished === null || finished.state === 'COMPLETED') return null;
  const { code, message, outcome } = finished.error ?? { code: 'OUTCOME_UNKNOWN', message: '', outcome: 'unknown' };
  return { kind: 'failed', code, message, outcome };
}
