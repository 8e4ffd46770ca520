import { demandEqual } from './check.js';
import { HEARTBEAT, RAN, resultsFor, success, TOOL_LIST, type Fields } from './frames.js';
import type { Ended, Frame, Peer } from './peer.js';

/** A frame that no server knows: its answer marks the place in the order of answers where a heartbeat cannot. */
const UNKNOWN: Fields = { type: 'telepathy', status: 'ok' };
/** Come on their own account, not as an answer. */
const UNASKED = new Set(['command', 'ack', 'stop_attempt', 'result_stored']);

/** One registered client of either role on its connection, with what all its frames carry. */
export class Client {
  readonly peer: Peer;
  readonly id: string;
  readonly #base: Fields;
  /** The next number, for a client that numbers its frames. */
  #seq: number | null;

  constructor(peer: Peer, options: { readonly id: string; readonly role: string; readonly numbered?: boolean }) {
    this.peer = peer;
    this.id = options.id;
    this.#base = { status: 'ok', client_type: options.role, client_id: options.id };
    this.#seq = options.numbered === true ? 1 : null;
  }

  /** From now on as another client would: its actions succeed, its tools are listed. */
  answering(resultOf: (action: Fields) => unknown = () => RAN): this {
    const answer = (command: Frame): void => {
      const results = resultsFor(command, (action) => success(listed(action) ?? resultOf(action), action['call_id']));
      this.send(results);
    };
    this.peer.onFrame = (frame) => (frame.type === 'command' ? answer(frame) : undefined);
    for (const frame of this.peer.frames) if (frame.type === 'command') answer(frame);
    return this;
  }

  /** A frame with what every frame of this client carries, and a number when it numbers. */
  send(fields: Fields): void {
    this.peer.send(this.stamped(fields));
  }

  stamped(fields: Fields): Fields {
    const number = this.#seq === null ? {} : { seq: this.#seq++ };
    return { ...this.#base, ...number, ...fields };
  }

  /** Any bytes. On a connection that numbers its frames they count as one, whatever they are. */
  raw(data: string | Buffer): void {
    if (this.#seq !== null) this.#seq++;
    this.peer.raw(data);
  }

  heartbeat(): void {
    this.send(HEARTBEAT);
  }

  /**
   * Everything that was answered to these bytes or this frame. Answers come in the order of what they answer, so a
   * heartbeat that is sent behind shows where they end, and that the connection is still open.
   */
  async answersTo(given: Fields | string | Buffer, marker: Fields = HEARTBEAT): Promise<Frame[]> {
    const from = this.peer.frames.length;
    if (typeof given === 'string' || Buffer.isBuffer(given)) this.raw(given);
    else this.send(given);
    this.send(marker);
    const ends = marker === HEARTBEAT ? isPlainHeartbeat : isError;
    await this.peer.next('the answer to the frame behind', (frame) => {
      return this.peer.frames.indexOf(frame) >= from && ends(frame);
    });
    const answers = this.peer.frames.slice(from);
    const end = answers.findIndex(ends);
    return answers.slice(0, end).filter(({ type }) => !UNASKED.has(type));
  }

  /** What heartbeats are answered with: there the frame behind has to be another one. */
  answersToHeartbeat(fields: Fields = {}): Promise<Frame[]> {
    return this.answersTo({ ...HEARTBEAT, ...fields }, UNKNOWN);
  }

  /** Demands exactly one ERROR, and a connection that goes on. */
  async demandError(given: Fields | string | Buffer): Promise<Frame | undefined> {
    const answers = await this.answersTo(given);
    demandEqual(typesOf(answers), ['error'], 'the answer');
    const [answer] = answers;
    demandEqual(answer?.['status'], 'error', 'the status of ERROR');
    demandEqual(typeof answer?.['error'], 'string', 'the type of the reason');
    return answer;
  }

  /** Demands that nothing is answered, and a connection that goes on. */
  async demandSilence(given: Fields | string | Buffer): Promise<void> {
    demandEqual(typesOf(await this.answersTo(given)), [], 'the answer');
  }

  close(): Promise<Ended> {
    return this.peer.close();
  }
}

export const typesOf = (frames: readonly Frame[]): string[] => frames.map(({ type }) => type);

/** Not the acknowledgement of a TASK, which names its session. */
const isPlainHeartbeat = ({ type, session_id: session }: Frame): boolean =>
  type === 'heartbeat' && (session ?? null) === null;
const isError = ({ type }: Frame): boolean => type === 'error';

const listed = (action: Fields): unknown => (action['tool_name'] === 'list_tools' ? TOOL_LIST : undefined);
