import type { Logger } from 'pino';
import { EXEC_LIMITS } from './exec-cli.js';
import { foreignResultMessage } from './messages.js';
import type { ToolAnswer } from '#libs/mcp';
import type { Action, ActionResult, ClientMessage, CommandMessage } from '#proto';
import type { Toolbox } from './toolbox.client.js';

export interface ForeignCommandOptions {
  readonly tools: Pick<Toolbox, 'has' | 'call'>;
  readonly send: (message: ClientMessage) => void;
  readonly now: () => number;
  readonly logger: Logger;
}

/** Messages that wait; a server that sends more does not wait for answers, and gets none. */
const WAITING_MAX = 64;

/**
 * Commands of servers that know AIP and not our revision: they carry no id, so nothing can be kept for them in the
 * journal. Their actions run one after the other, as such servers expect, and every one of them gets an answer.
 */
export class ForeignCommandHandler {
  private last: Promise<void> = Promise.resolve();
  private waiting = 0;
  private readonly stop = new AbortController();

  constructor(private readonly options: ForeignCommandOptions) {}

  onCommand(message: CommandMessage): void {
    if (this.waiting >= WAITING_MAX || this.stop.signal.aborted) {
      this.options.logger.warn({ waiting: this.waiting }, 'command of a foreign server dropped');
      return;
    }
    this.waiting++;
    this.last = this.last.then(() => this.run(message));
  }

  async drain(): Promise<void> {
    this.stop.abort();
    await this.last;
  }

  private async run(message: CommandMessage): Promise<void> {
    const results: ActionResult[] = [];
    for (const action of message.actions) {
      const failed = results.some(({ status }) => status === 'failure');
      results.push(failed ? skipped(action) : await this.act(action));
    }
    this.waiting--;
    this.options.send(foreignResultMessage(message, results, this.options.now()));
  }

  private async act(action: Action): Promise<ActionResult> {
    const { tools } = this.options;
    if (!tools.has(action.tool_name)) return failure(action, `unknown tool ${action.tool_name.slice(0, 128)}`);
    const answer = await tools.call(action.tool_name, action.parameters ?? {}, this.stop.signal);
    if (answer.kind !== 'answered') return failure(action, reasonOf(answer));
    const { isError, value } = answer;
    if (isError) return failure(action, typeof value === 'string' ? value : JSON.stringify(value));
    return { status: 'success', error: null, result: value, namespace: null, call_id: action.call_id ?? null };
  }
}

function reasonOf(answer: Exclude<ToolAnswer, { kind: 'answered' }>): string {
  return 'reason' in answer
    ? answer.reason
    : answer.kind === 'timed_out'
      ? 'the tool did not answer in time'
      : 'cancelled';
}

function failure(action: Action, error: string): ActionResult {
  const message = error.slice(0, EXEC_LIMITS.commandBytesMax);
  return { status: 'failure', error: message, result: null, namespace: null, call_id: action.call_id ?? null };
}

function skipped(action: Action): ActionResult {
  const error = 'skipped because an earlier action failed';
  return { status: 'skipped', error, result: null, namespace: null, call_id: action.call_id ?? null };
}
