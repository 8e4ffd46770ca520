/** Why something cannot be done, with a code for programs. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Codes of attempts that an agent ends. */
export const CODES = {
  /** The agent says that the task cannot be done. */
  failed: 'AGENT_FAILED',
  /** A bug in an agent, or in what it was told. */
  error: 'AGENT_ERROR',
  stepLimit: 'STEP_LIMIT',
  replyInvalid: 'MODEL_REPLY_INVALID',
} as const;

const MESSAGE_CHARS_MAX = 2_000;

/** Thrown by a strategy when the task cannot go on and it is known why. */
export class AgentFailure extends Error {
  override readonly name = 'AgentFailure';
  readonly code: string;

  constructor({ code, message }: Failure) {
    super(message);
    this.code = code;
  }
}

/** What an attempt is to say of an error. Nothing of the stack: it would be another one elsewhere. */
export function failureOf(error: unknown): Failure {
  if (error instanceof AgentFailure) return { code: error.code, message: cut(error.message) };
  return { code: CODES.error, message: cut(`the agent itself went wrong: ${errorText(error)}`) };
}

/** The task cannot be done, in the agent's words. */
export function failed(reason: string): Failure {
  return { code: CODES.failed, message: reason.trim() === '' ? 'the agent gave no reason' : cut(reason) };
}

const cut = (text: string): string =>
  text.length <= MESSAGE_CHARS_MAX ? text : `${text.slice(0, MESSAGE_CHARS_MAX - 1)}…`;
