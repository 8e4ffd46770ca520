import { Dice } from '../simulation/random.js';
import { Client } from '../conformance/aip/client.js';
import { constellationRegisterOf, registerOf, revisedRegisterOf, type Fields } from '../conformance/aip/frames.js';
import type { Account, Target } from '../conformance/aip/lab.js';
import { Peer } from '../conformance/aip/peer.js';
import type { Corpus } from './corpus.js';
import { binaryFrame } from './binary.js';
import { Generator, SEQ, ACK, type Recipe } from './generator.js';

export interface SocketFuzzOptions {
  readonly target: Target;
  readonly devices: readonly Account[];
  readonly constellations: readonly Account[];
  readonly corpus: Corpus;
  readonly seed: number;
  readonly frames: number;
}

export interface SocketFuzzResult {
  frames: number;
  connections: number;
  /** How connections ended, by close code; `open`: until we went. */
  readonly ends: Map<string, number>;
  /** Connections that neither answered nor closed, and how they got there. */
  readonly silent: string[];
  /** Frames of the server that are none. */
  readonly malformed: string[];
}

/** Frames between two questions whether somebody is still there. */
const FRAMES_PER_QUESTION = 10;
const QUESTIONS_PER_CONNECTION = 5;
const KINDS = ['nothing', 'foreign', 'revision 1', 'revision 2', 'constellation'] as const;
type Kind = (typeof KINDS)[number];

/** Clients that send anything, side by side, over real sockets. Whatever they send is answered, or their connection closed. */
export async function fuzzSockets(options: SocketFuzzOptions): Promise<SocketFuzzResult> {
  const { devices, constellations, frames } = options;
  const result: SocketFuzzResult = { frames: 0, connections: 0, ends: new Map(), silent: [], malformed: [] };
  const generator = new Generator(options.corpus);
  const lanes = Math.min(devices.length, constellations.length);
  const lane = async (index: number): Promise<void> => {
    for (let round = 0; result.frames < frames && result.silent.length === 0; round++) {
      const dice = new Dice(options.seed, 'sockets', index, round);
      const kind = KINDS[(index + round) % KINDS.length] ?? 'nothing';
      const account = (kind === 'constellation' ? constellations : devices)[index];
      if (account === undefined) throw new RangeError('a lane without an account');
      await oneConnection(options, { kind, account, dice, generator }, result);
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
  return result;
}

interface Lane {
  readonly kind: Kind;
  readonly account: Account;
  readonly dice: Dice;
  readonly generator: Generator;
}

async function oneConnection({ target, seed }: SocketFuzzOptions, lane: Lane, result: SocketFuzzResult): Promise<void> {
  const { kind, account, dice } = lane;
  const { url, answerMs } = target;
  const peer = await Peer.dial({ url, answerMs, token: account.token, tokenIn: tokenInOf(kind) });
  result.connections++;
  try {
    const client = await registered(peer, kind, account);
    for (let question = 0; question < QUESTIONS_PER_CONNECTION && peer.isOpen; question++) {
      for (let count = 0; count < FRAMES_PER_QUESTION && peer.isOpen; count++) result.frames += say(client, lane);
      await isAlive(client);
    }
  } catch (error) {
    if (peer.isOpen) result.silent.push(`${kind}, seed ${seed}: ${String(error)}`);
  }
  const ended = peer.isOpen ? 'open' : String((await peer.closed).code);
  result.ends.set(`${kind} ${ended}`, (result.ends.get(`${kind} ${ended}`) ?? 0) + 1);
  result.malformed.push(...peer.malformed);
  peer.cut();
  await peer.closed;
  dice.next();
}

const tokenInOf = (kind: Kind): 'header' | 'query' => (kind.startsWith('revision') ? 'header' : 'query');

async function registered(peer: Peer, kind: Kind, { id }: Account): Promise<Client> {
  const register = registerFor(kind, id);
  if (register !== undefined) {
    peer.send(register);
    await peer.nextOf('heartbeat');
  }
  const role = kind === 'constellation' ? 'constellation' : 'device';
  const client = new Client(peer, { id, role, numbered: kind === 'revision 2' });
  if (kind === 'foreign') client.answering();
  if (kind === 'revision 2') client.send({ type: 'resume', orrery: { running: [], finished: [], more: false } });
  return client;
}

function registerFor(kind: Kind, id: string): Fields | undefined {
  switch (kind) {
    case 'nothing':
      return undefined;
    case 'foreign':
      return registerOf(id);
    case 'revision 1':
      return revisedRegisterOf(id, 1);
    case 'revision 2':
      return revisedRegisterOf(id, 2);
    case 'constellation':
      return constellationRegisterOf(id, null);
  }
}

/** Sends one frame; on a connection with numbers it has the one that it should, mostly. */
function say(client: Client, { kind, dice, generator }: Lane): 1 {
  const numbered = kind === 'revision 2';
  const sender = kind === 'constellation' ? 'constellation' : 'device';
  const recipe: Recipe = { sender, numbered, fitting: kind === 'nothing' ? ['register'] : [] };
  const { text, binary } = generator.frame(recipe, dice);
  if (text === null) client.raw(Buffer.from([1, 2, 3]));
  else if (numbered) {
    const { seq } = client.stamped({});
    const filled = text.replaceAll(SEQ, String(seq)).replaceAll(ACK, '0');
    if (binary === undefined) client.peer.raw(filled);
    else client.raw(Buffer.from(binaryFrame(filled, binary)));
  } else client.raw(text);
  return 1;
}

/** A heartbeat is answered, before REGISTER with ERROR; or the connection is closed. */
async function isAlive(client: Client): Promise<void> {
  const { peer } = client;
  const from = peer.frames.length;
  client.heartbeat();
  await peer
    .next('an answer', (frame) => peer.frames.indexOf(frame) >= from)
    .catch((error: unknown) => {
      if (peer.isOpen) throw error;
    });
}
