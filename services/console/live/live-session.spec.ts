import { beforeEach, describe, expect, it } from '@jest/globals';
import { LIVE_CLOSE, LIVE_LIMITS, LiveMessage, type LiveTopic, type Role } from '#proto';
import type { AccessReading } from '../access/index.js';
import { RefusedError } from '../http/index.js';
import { ChannelError, type Channel } from './channel.js';
import { LiveSession } from './live-session.js';

const RUN = '0123456789abcdefghjkmnpqrs';

let said: LiveMessage[];
let closed: number[];
let followed: { topic: LiveTopic; channel: Channel; end: (error?: Error) => void }[];
let read: AccessReading[];
let over: AbortController;

beforeEach(() => {
  [said, closed, followed, read, over] = [[], [], [], [], new AbortController()];
});

function session(roles: readonly Role[] = ['viewer'], reads?: () => Promise<void>): (word: unknown) => Promise<void> {
  const wire = {
    signal: over.signal,
    send: async (text: string) => {
      said.push(LiveMessage.parse(JSON.parse(text)));
      return true;
    },
    turn: async () => undefined,
    close: (code: number) => {
      closed.push(code);
      over.abort();
    },
  };
  const one = new LiveSession({
    wire,
    caller: {
      actor: { kind: 'person', id: 'anna' },
      roles,
      namespace: 'anna',
      issuer: 'i',
      subject: 's',
      session: 'x',
    },
    follow: (topic, channel) =>
      new Promise((resolve, reject) => {
        followed.push({ topic, channel, end: (error) => (error === undefined ? resolve() : reject(error)) });
      }),
    reads: reads ?? (async (reading) => void read.push(reading)),
    logger: { error: () => undefined },
  });
  return async (word) => {
    one.take(Buffer.from(typeof word === 'string' ? word : JSON.stringify(word)));
    await new Promise((resolve) => setImmediate(resolve));
  };
}

const open = (channel: number, topic: object = { kind: 'run', run: RUN }) => ({ op: 'open', channel, topic });
const codes = () => said.map((message) => (message.kind === 'error' ? message.code : message.kind));

describe('a session of the live stream', () => {
  it('records what is read before it is followed, and nothing of lists', async () => {
    const say = session();
    await say(open(1));
    await say(open(2, { kind: 'output', run: RUN, task: 'disk', attempt: 1 }));
    await say(open(3, { kind: 'runs' }));
    expect(followed).toHaveLength(3);
    expect(read).toEqual([
      { what: 'EVENTS_READ', runId: RUN },
      { what: 'OUTPUT_READ', runId: RUN, taskId: 'disk' },
    ]);
  });

  it('shows nothing of what cannot be recorded', async () => {
    const away = new RefusedError({ code: 'TRY_AGAIN', message: 'cannot be stored' });
    await session(['viewer'], () => Promise.reject(away))(open(1));
    expect([codes(), followed]).toEqual([['UNAVAILABLE'], []]);
  });

  it('asks for the role of each topic', async () => {
    const say = session(['admin']);
    for (const topic of [{ kind: 'run', run: RUN }, { kind: 'runs' }, { kind: 'fleet' }, { kind: 'attention' }]) {
      await say(open(1, topic));
    }
    expect([codes(), followed]).toEqual([['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN'], []]);
  });

  it('has one channel under a number, free again when it is closed or over', async () => {
    const say = session();
    await say(open(1));
    await say(open(1));
    expect(codes()).toEqual(['IN_USE']);
    await say({ op: 'close', channel: 1 });
    expect(followed[0]?.channel.signal.aborted).toBe(true);
    await say(open(1));
    followed[1]?.end(new ChannelError('NOT_FOUND', 'There is no run.'));
    await say(open(2));
    await say(open(1));
    expect(codes()).toEqual(['IN_USE', 'NOT_FOUND']);
    expect(await followed[0]?.channel.say({ kind: 'live' })).toBe(false);
    expect(said).toHaveLength(2);
  });

  it('has so many channels and no more', async () => {
    const say = session();
    for (let channel = 0; channel <= LIVE_LIMITS.channelsMax; channel++) await say(open(channel));
    expect([codes(), followed.length]).toEqual([['TOO_MANY'], LIVE_LIMITS.channelsMax]);
  });

  it('says what is wrong with a word, and ends with who says many that are none', async () => {
    const say = session();
    await say('{');
    await say({ op: 'open', channel: 7, topic: { kind: 'people' } });
    expect(said).toMatchObject([
      { channel: null, kind: 'error', code: 'INVALID', message: 'This is not JSON.' },
      { channel: 7, kind: 'error', code: 'INVALID', message: expect.stringContaining('topic.kind') },
    ]);
    for (let more = 0; more < 20; more++) await say('[]');
    expect(closed).toEqual([LIVE_CLOSE.invalid]);
  });

  it('stops following when the socket is gone', async () => {
    const say = session();
    await say(open(1));
    over.abort();
    expect(followed[0]?.channel.signal.aborted).toBe(true);
  });
});
