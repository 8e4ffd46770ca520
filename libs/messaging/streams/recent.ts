/** A message that the server has told of. */
export interface RecentMessage {
  /** Its place in the stream. */
  readonly seq: number;
  /** The place of the one before it on the same subject; 0 for none. */
  readonly before: number;
  /** What it holds; 0 when it was told of without that. */
  readonly bytes: number;
}

/** Some hundred milliseconds of a busy subject; it is there once for all who read it. */
const RECENT = { messagesMax: 64, bytesMax: 256 * 1_024 } as const;

/**
 * What came last, so that a reader who is a few messages behind reads on here: many who are late together would each ask the server
 * for the same page, and be later for it.
 */
export class Recent<T extends RecentMessage> {
  #messages: T[] = [];
  #bytes = 0;

  add(message: T): void {
    this.#messages.push(message);
    this.#bytes += message.bytes;
    while (this.#messages.length > RECENT.messagesMax || this.#bytes > RECENT.bytesMax)
      this.#bytes -= this.#messages.shift()?.bytes ?? 0;
  }

  /**
   * What comes behind this place, without gap up to the newest, as far as it is whole here. Looked for from the newest on: what was removed
   * from the stream meanwhile is before no message of it. `isOneSubject`: nothing else is between a message and the one before it.
   */
  after(place: number, isOneSubject: boolean): readonly T[] {
    const messages = this.#messages;
    let from = messages.length;
    for (let next = Infinity; next > place; from--) {
      const message = messages[from - 1];
      if (message === undefined || message.seq <= place || (next < Infinity && message.seq !== next)) return [];
      next = isOneSubject ? message.before : message.seq - 1;
    }
    const cut = messages.findIndex(({ bytes }, at) => at >= from && bytes === 0);
    return messages.slice(from, cut < 0 ? undefined : cut);
  }
}
