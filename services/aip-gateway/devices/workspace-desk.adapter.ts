import type { Msg } from '@nats-io/transport-node';
import type { WorkspaceMessage } from '#libs/aip';
import {
  COMMAND_REFUSALS,
  type DeviceAnswer,
  type DeviceRequest,
  LIMITS,
  type RunId,
  type ServerMessage,
} from '#proto';

type Asked = Extract<DeviceRequest, { kind: 'forget' | 'workspaces' }>;

interface Waiting {
  readonly message: Pick<Msg, 'respond'>;
  readonly untilMs: number;
}

export interface WorkspaceDeskOptions {
  /** The device has said that it keeps any. */
  readonly isKept: boolean;
  readonly say: (message: ServerMessage) => void;
}

/** More people than this do not ask one device at a time; who is not answered asks again. */
const WAITING_MAX = 256;

const REFUSED: DeviceAnswer = {
  state: 'refused',
  code: COMMAND_REFUSALS.noWorkspaces,
  message: 'the device keeps no workspaces of runs',
};

/** Asks one device about the workspaces of runs, and answers with what it says, and not before: who has no answer asks again. */
export class WorkspaceDesk {
  readonly #options: WorkspaceDeskOptions;
  /** By what will be answered. */
  readonly #waiting = new Map<string, Waiting[]>();
  #asked = 0;

  constructor(options: WorkspaceDeskOptions) {
    this.#options = options;
  }

  ask(message: Pick<Msg, 'respond'>, asked: Asked, nowMs: number): void {
    if (!this.#options.isKept) return answer({ message, untilMs: 0 }, REFUSED);
    this.#forgetLate(nowMs);
    if (this.#waiting.size >= WAITING_MAX) return;
    const waiting = { message, untilMs: nowMs + LIMITS.commandAnswerMs };
    if (asked.kind === 'forget') {
      const { runId, endedAt, keep } = asked;
      this.#wait(ofRun(runId), waiting);
      this.#options.say({ type: 'forget_run', status: 'ok', orrery: { run_id: runId, ended_at: endedAt, keep } });
    } else {
      const id = `w${++this.#asked}`;
      this.#wait(id, waiting);
      this.#options.say({ type: 'workspaces_request', status: 'ok', orrery: { request_id: id } });
    }
  }

  /** What was not asked for, or too long ago, is nobody's. */
  take(said: WorkspaceMessage): void {
    if (said.type === 'run_forgotten') return this.#answer(ofRun(said.orrery.run_id), { state: 'done' });
    const { request_id: id, workspaces, more } = said.orrery;
    this.#answer(id, { state: 'workspaces', workspaces, more });
  }

  /** Nobody is answered any more. */
  close(): void {
    this.#waiting.clear();
  }

  #wait(key: string, waiting: Waiting): void {
    this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), waiting]);
  }

  #answer(key: string, said: DeviceAnswer): void {
    const waiting = this.#waiting.get(key) ?? [];
    this.#waiting.delete(key);
    for (const one of waiting) answer(one, said);
  }

  #forgetLate(nowMs: number): void {
    for (const [key, waiting] of this.#waiting) {
      const left = waiting.filter(({ untilMs }) => untilMs > nowMs);
      if (left.length === 0) this.#waiting.delete(key);
      else this.#waiting.set(key, left);
    }
  }
}

/** No id of a question begins so. */
const ofRun = (runId: RunId): string => `run ${runId}`;

const answer = ({ message }: Waiting, said: DeviceAnswer): void => void message.respond(JSON.stringify(said));
