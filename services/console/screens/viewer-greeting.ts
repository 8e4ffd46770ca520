/*
 * The beginning of a view as the viewer has it (RFC 6143, 7.1 to 7.3.1): who he is he has shown at the door already, so he is asked
 * for nothing, and whether he wants the screen alone is not for him to say.
 *
 *   "RFB 003.008" -->        --> [None] --> chosen --> ok --> shared? --> what follows is for the server
 */

const VERSION = 'RFB 003.008\n';
const NONE = 1;
const STEPS = ['version', 'security', 'shared'] as const;
const LENGTHS = { version: VERSION.length, security: 1, shared: 1 } as const;

export interface Greeted {
  readonly replies: readonly Buffer[];
  /** What came after the greeting; undefined while it is not over. */
  readonly rest: Buffer | undefined;
}

/** Takes what a viewer says at first. */
export class ViewerGreeting {
  static readonly opening: Buffer = Buffer.from(VERSION);
  #step = 0;
  #rest: Buffer = Buffer.alloc(0);

  /** Undefined: it is no viewer that we know. */
  take(piece: Buffer): Greeted | undefined {
    let rest = Buffer.concat([this.#rest, piece]);
    const replies: Buffer[] = [];
    for (let step = STEPS[this.#step]; step !== undefined; step = STEPS[this.#step]) {
      if (rest.length < LENGTHS[step]) {
        this.#rest = rest;
        return { replies, rest: undefined };
      }
      const reply = replyTo(step, rest.subarray(0, LENGTHS[step]));
      if (reply === undefined) return undefined;
      replies.push(reply);
      rest = rest.subarray(LENGTHS[step]);
      this.#step++;
    }
    return { replies: replies.filter(({ length }) => length > 0), rest };
  }
}

function replyTo(step: (typeof STEPS)[number], said: Buffer): Buffer | undefined {
  switch (step) {
    case 'version':
      return said.equals(ViewerGreeting.opening) ? Buffer.from([1, NONE]) : undefined;
    case 'security':
      return said.readUInt8(0) === NONE ? Buffer.alloc(4) : undefined;
    case 'shared':
      return Buffer.alloc(0);
    default:
      return step satisfies never;
  }
}
