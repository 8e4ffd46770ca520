import type { Logger } from 'pino';
import type { ToolAnswer } from '#libs/mcp';
import { AIP_LIMITS, type Action, type ActionResult, type ClientMessage, type CommandMessage } from '#proto';
import { callOf, type CommandGate } from '../policy/index.js';
import { fitJson } from '../output/index.js';
import { isUncut, screenAnswer } from './foreign-screen.js';
import { foreignResultMessage, type AnsweringClient } from './messages.js';
import type { Toolbox } from '../tools/index.js';

export interface ForeignCommandOptions {
  readonly tools: Pick<Toolbox, 'has' | 'call' | 'serverOf'>;
  readonly gate: Pick<CommandGate, 'refusal'>;
  readonly send: (message: ClientMessage) => void;
  /** Signs an answer: with the name that the server knows, a new id, and the time. */
  readonly sign: () => AnsweringClient;
  readonly logger: Logger;
}

/** Messages that wait; a server that sends more does not wait for answers, and gets none. */
const WAITING_MAX = 64;
/** Of the one action that failed; the others after it are not run. */
const ERROR_CHARS_MAX = 64 * 1024;
/** All results of one message; what is left of a frame is for the error and for ids. */
const RESULTS_BYTES_MAX = AIP_LIMITS.foreignFrameBytesMax - 1024 * 1024;

/** What servers of UFO are told by their own devices, word for word: their agents may look for it. */
const SKIPPED = 'Skipped due to previous failure (early_exit=True).';
const NO_ACTION = 'No action taken.';

/** One connection of a foreign server. */
interface Visit {
  readonly stop: AbortController;
  waiting: number;
}

/**
 * Commands of servers that know AIP and not our revision: they carry no id, so nothing can be kept for them in the
 * journal. Their actions run one after the other, as such servers expect, and every one of them gets an answer, for as
 * long as the connection lives: afterwards nobody can ask for it, so what runs is ended.
 */
export class ForeignCommandHandler {
  #last: Promise<void> = Promise.resolve();
  #visit: Visit = newVisit();
  #accepting = true;

  readonly #options: ForeignCommandOptions;

  constructor(options: ForeignCommandOptions) {
    this.#options = options;
  }

  onCommand(message: CommandMessage): void {
    const visit = this.#visit;
    if (!this.#accepting || visit.waiting >= WAITING_MAX) {
      this.#options.logger.warn({ waiting: visit.waiting }, 'command of a foreign server dropped');
      return;
    }
    visit.waiting++;
    this.#last = this.#last.then(() => this.#run(message, visit));
  }

  onDisconnected(): void {
    if (this.#visit.waiting > 0)
      this.#options.logger.warn({ commands: this.#visit.waiting }, 'commands ended unanswered');
    this.#visit.stop.abort();
    this.#visit = newVisit();
  }

  async drain(): Promise<void> {
    this.#accepting = false;
    this.#visit.stop.abort();
    await this.#last;
  }

  async #run(message: CommandMessage, visit: Visit): Promise<void> {
    const results: ActionResult[] = [];
    for (const action of message.actions) {
      if (visit !== this.#visit) return;
      const failed = results.some(({ status }) => status === 'failure');
      results.push(
        failed
          ? answered(action, 'skipped', { error: SKIPPED })
          : await this.#act(action, { signal: visit.stop.signal, bytesMax: share(message.actions) }),
      );
    }
    visit.waiting--;
    // A new connection knows nothing of the commands of the last one.
    if (visit === this.#visit) this.#options.send(foreignResultMessage(message, fitted(results), this.#options.sign()));
  }

  async #act(
    action: Action,
    { signal, bytesMax }: { readonly signal: AbortSignal; readonly bytesMax: number },
  ): Promise<ActionResult> {
    const { tools, gate } = this.#options;
    const { tool_name: tool } = action;
    if (tool === '') return answered(action, 'success', { result: NO_ACTION });
    if (!tools.has(tool)) return failure(action, `unknown tool ${tool.slice(0, 128)}`);
    const namespace = tools.serverOf(tool);
    // Such a server says nothing of who chose the command, so it counts as one that a person wrote.
    const refusal = await gate.refusal(callOf(tool, action.parameters), undefined);
    if (refusal !== undefined) return failure(action, refusal.error?.message ?? 'refused', namespace);
    const answer = await tools.call(tool, action.parameters ?? {}, { signal, commandId: null });
    if (answer.kind !== 'answered') return failure(action, reasonOf(answer), namespace);
    const { isError, value } = answer;
    if (isError) return failure(action, typeof value === 'string' ? value : JSON.stringify(value), namespace);
    const result = screenAnswer(tool, answer);
    if (!isUncut(result, bytesMax)) return failure(action, 'the picture or file is larger than a frame', namespace);
    return answered(action, 'success', { result, namespace });
  }
}

const newVisit = (): Visit => ({ stop: new AbortController(), waiting: 0 });

const share = ({ length }: readonly unknown[]): number => Math.floor(RESULTS_BYTES_MAX / Math.max(1, length));

/** All results of a message share what a frame takes. */
function fitted(results: readonly ActionResult[]): ActionResult[] {
  const bytesMax = share(results);
  return results.map((result) => ({ ...result, result: fitJson(result.result ?? null, bytesMax) }));
}

function reasonOf(answer: Exclude<ToolAnswer, { kind: 'answered' }>): string {
  switch (answer.kind) {
    case 'timed_out':
      return 'the tool did not answer in time';
    case 'cancelled':
      return 'the device ends';
    case 'unavailable':
    case 'lost':
      return answer.reason;
  }
}

const answered = (
  action: Action,
  status: ActionResult['status'],
  { error = null, result = null, namespace = null }: Pick<Partial<ActionResult>, 'error' | 'result' | 'namespace'>,
): ActionResult => ({ status, error, result, namespace, call_id: action.call_id ?? null });

const failure = (action: Action, error: string, namespace: string | null = null): ActionResult =>
  answered(action, 'failure', { error: error.slice(0, ERROR_CHARS_MAX).toWellFormed(), namespace });
