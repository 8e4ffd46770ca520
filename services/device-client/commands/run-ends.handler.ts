// The end of a run on this device. The fact first: it is in the journal before anything is removed, and the server is told then. What was not
// removed before a crash is removed at the next start.
import type { Logger } from 'pino';
import type { ClientMessage, RunId, ServerMessage } from '#proto';
import type { Workspaces } from '../workspaces/index.js';
import type { CommandHandler } from './command.handler.js';
import type { NotedEnd } from './command-journal.js';
import type { JournalFile } from './journal-file.adapter.js';

export interface RunEndsOptions {
  readonly file: Pick<JournalFile, 'journal' | 'append'>;
  readonly commands: Pick<CommandHandler, 'endRun'>;
  readonly workspaces: Pick<Workspaces, 'remove' | 'list' | 'sweep'>;
  readonly send: (message: ClientMessage) => void;
  readonly now: () => number;
  readonly logger: Logger;
  /** The journal cannot be written: the client has to end. */
  readonly onFatal: (error: unknown) => void;
}

type Forget = Extract<ServerMessage, { type: 'forget_run' }>['orrery'];
type Asked = Extract<ServerMessage, { type: 'workspaces_request' }>['orrery'];

export class RunEnds {
  readonly #options: RunEndsOptions;
  #listing: Promise<void> = Promise.resolve();

  constructor(options: RunEndsOptions) {
    this.#options = options;
  }

  /** Before any command begins: what earlier processes were to remove, and what nobody has asked for. */
  async clear(): Promise<void> {
    const { file, workspaces } = this.#options;
    for (const ended of file.journal.unremoved()) await this.#remove(ended);
    await workspaces.sweep((runId) => this.#isKept(runId));
  }

  onForget(forget: Forget): void {
    this.#forget(forget).catch(this.#options.onFatal);
  }

  /** One list after the other: each looks at every file. */
  onList({ request_id }: Asked): void {
    const { logger } = this.#options;
    this.#listing = this.#listing
      .then(() => this.#list(request_id))
      .catch((error: unknown) => logger.warn({ err: error }, 'workspaces cannot be listed'));
  }

  async #list(requestId: string): Promise<void> {
    const { send, workspaces, now } = this.#options;
    const listed = await workspaces.list((runId) => this.#isKept(runId));
    const timestamp = new Date(now()).toISOString();
    const orrery = { request_id: requestId, ...listed };
    send({ type: 'workspaces', status: 'ok', client_type: 'device', timestamp, orrery });
  }

  async #forget({ run_id: runId, ended_at: endedAt, keep }: Forget): Promise<void> {
    const { file, commands, now } = this.#options;
    const known = file.journal.endOf(runId);
    // It was said before, or an older end comes late.
    const isNews = known === undefined || known.endedAt < endedAt || (known.keep && !keep);
    if (!isNews) return this.#acknowledge(runId);
    const ended: NotedEnd = { type: 'ended', runId, endedAt, keep, removed: false, at: now() };
    await file.append(ended);
    this.#acknowledge(runId);
    const isOver = await commands.endRun(runId, endedAt);
    if (keep) return;
    if (isOver) await this.#remove(ended);
    // It is the workspace of what goes on: the next end takes it away.
    else await file.append({ ...ended, removed: true });
  }

  async #remove(ended: NotedEnd): Promise<void> {
    await this.#options.workspaces.remove(ended.runId);
    await this.#options.file.append({ ...ended, removed: true });
  }

  #acknowledge(runId: RunId): void {
    const { send, now } = this.#options;
    const timestamp = new Date(now()).toISOString();
    send({ type: 'run_forgotten', status: 'ok', client_type: 'device', timestamp, orrery: { run_id: runId } });
  }

  #isKept(runId: RunId): boolean {
    return this.#options.file.journal.endOf(runId)?.keep === true;
  }
}
