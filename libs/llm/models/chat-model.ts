import type { ChatMessage, ContentPart, Json, ModelCall } from '#proto';
import { visibleText } from '#libs/visible';

declare const shown: unique symbol;
/** Messages in which nothing is hidden: `shownMessages` alone makes them, and a model is asked with nothing else. */
export type ShownMessages = readonly ChatMessage[] & { readonly [shown]: true };

/**
 * Messages as a model may be asked with them. Prompters have shown what others wrote as it may be shown; this holds for what they
 * forgot, and for what a model said itself and is told again.
 */
export function shownMessages(messages: readonly ChatMessage[]): ShownMessages {
  const part = (one: ContentPart): ContentPart => {
    if (one.type === 'image') return one;
    if (one.type === 'text') return { type: 'text', text: visibleText(one.text) };
    return { type: 'image_url', image_url: { url: visibleText(one.image_url.url) } };
  };
  const told = messages.map(({ role, content }) => ({
    role,
    content: typeof content === 'string' ? visibleText(content) : content.map(part),
  }));
  return told as readonly ChatMessage[] as ShownMessages;
}

type Picture = Extract<ContentPart, { type: 'image' }>;

/** The same messages with each picture that they name as `made` of it says: nothing else of them changes. */
export function withPictures(messages: ShownMessages, made: (picture: Picture) => ContentPart): ShownMessages {
  const told = messages.map(({ role, content }) => ({
    role,
    content: typeof content === 'string' ? content : content.map((part) => (part.type === 'image' ? made(part) : part)),
  }));
  return told as readonly ChatMessage[] as ShownMessages;
}

/** What messages name, in order. */
export const picturesIn = (messages: ShownMessages): readonly Picture[] =>
  messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.filter((part) => part.type === 'image'),
  );

/** One question to a model. */
export interface ModelRequest {
  /** Whose settings count: `LinuxAgent`, `ConstellationAgent`, ... */
  readonly agent: string;
  readonly messages: ShownMessages;
  /** Strict structured output: the name and JSON Schema of what the reply must be. */
  readonly schema: { readonly name: string; readonly json: Record<string, Json> };
  /** Aborted when nobody wants the reply any more. */
  readonly signal: AbortSignal;
  /** Milliseconds from now after which no reply helps. */
  readonly deadlineMs: number;
  /** Names the conversation and the turn, the same in every repeat: what recorded replies are found by. */
  readonly turn: string;
  /**
   * Called with the text so far while it is written; never after the promise has settled. Text that a later try replaces is
   * taken back by a call with the empty text.
   */
  readonly onText?: (soFar: string) => void;
}

/** Everything but `prompt`, `replyArtifact` and `problems` of the record: what a model knows of its own call. */
export type ModelAnswer = Omit<ModelCall, 'prompt' | 'replyArtifact' | 'problems'>;

/** Why there is no reply, or none that is whole. */
export type ModelErrorCode =
  /** No whole reply in time. */
  | 'TIMEOUT'
  /** HTTP 429. */
  | 'RATE_LIMITED'
  /** HTTP 5xx. */
  | 'SERVER_ERROR'
  /** HTTP 400 and its like: the same request will be refused again. */
  | 'BAD_REQUEST'
  /** HTTP 401 or 403. */
  | 'UNAUTHORIZED'
  /** No connection, or it broke before the answer began. */
  | 'UNREACHABLE'
  /** It broke, or simply ended, in the middle of the reply. */
  | 'STREAM_CUT'
  /** What came is no answer of a model. */
  | 'BAD_RESPONSE'
  /** More than `LIMITS.replyBytesMax`; the head is kept. */
  | 'REPLY_TOO_LARGE'
  /** The model stopped at its own limit of tokens; what there is of it is kept. */
  | 'REPLY_CUT'
  | 'EMPTY_REPLY'
  /** The model, or a filter in front of it, would not answer. */
  | 'REFUSED'
  /** The caller no longer wants it. */
  | 'ABORTED'
  /** The endpoint failed so often lately that it was not asked. */
  | 'CIRCUIT_OPEN'
  /** A recording was to be replayed that does not have this turn. */
  | 'NOT_RECORDED';

/** Asks language models. Never throws: what went wrong is in the answer's `error`. */
export interface ChatModel {
  /**
   * One answer per request that was made to an endpoint, in order; the last one is the one that counts. Retries are inside.
   * Never empty: when no endpoint was asked at all, one answer says why, with no tokens.
   */
  ask(request: ModelRequest): Promise<ModelAnswer[]>;
}
