import type { LiveErrorCode, LiveMessage } from '#proto';

type Body<M> = M extends LiveMessage ? Omit<M, 'channel'> : never;
/** A message without the number of its channel. */
export type LiveBody = Body<Exclude<LiveMessage, { kind: 'error' }>>;

/** Where what is followed is told. False from when nobody hears it any more: whoever tells stops then. */
export interface Channel {
  /** Resolves when there is room for the next one. */
  say(body: LiveBody): Promise<boolean>;
  /** The same of what is JSON already: its fields, without braces. */
  sayJson(fields: string): Promise<boolean>;
  readonly signal: AbortSignal;
}

/** Why a channel ends without its end. */
export class ChannelError extends Error {
  override readonly name = 'ChannelError';
  readonly code: LiveErrorCode;
  constructor(code: LiveErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
