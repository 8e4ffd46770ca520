import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { startTestBus, type TestBus } from '#libs/testing';
import { subjects, type SubmitAnswer } from '#proto';
import { connectBus } from '../connection/bus.client.js';
import { submitRequest, type SubmitPatience } from './submit.client.js';

const REQUEST = JSON.stringify({ requestId: 'mine', goal: 'look after the disks' });
const TAKEN = { runId: 'run-1', requestId: 'mine' };
const ACCEPTED = { answer: 'accepted', ...TAKEN };
const refusalOf = (code: 'TRY_AGAIN' | 'NO_PLANNER'): SubmitAnswer => ({
  requestId: 'mine',
  error: { code, message: `it is ${code}`, issues: [] },
});

let bus: TestBus;
let orchestrator: NatsConnection;
/** Everybody who may ask for a run over the bus. */
const users = ['cli', 'console', 'aip-gateway', 'external'] as const;
const ends: (() => void)[] = [];

beforeAll(async () => {
  bus = await startTestBus();
  orchestrator = await bus.as('orchestrator');
});
afterEach(async () => {
  ends.splice(0).forEach((end) => end());
  await orchestrator.flush(); // nobody may ask one that is gone
});
afterAll(() => bus.stop());

/** Somebody who takes requests and answers as told; `undefined` is no answer at all. The last answer stays. */
async function taker(answers: readonly (SubmitAnswer | string | undefined)[]): Promise<string[]> {
  const received: string[] = [];
  const subscription = orchestrator.subscribe(subjects.submit, {
    callback: (_, message) => {
      const answer = answers[Math.min(received.length, answers.length - 1)];
      received.push(message.string());
      if (answer !== undefined) message.respond(typeof answer === 'string' ? answer : JSON.stringify(answer));
    },
  });
  ends.push(() => subscription.unsubscribe());
  await orchestrator.flush();
  return received;
}

const submit = async (patience?: SubmitPatience) => submitRequest(await bus.as('cli'), REQUEST, patience);

describe('submitRequest', () => {
  it.each(users)('sends a request of %s as it stands, and says which run it became', async (user) => {
    const received = await taker([TAKEN]);
    expect(await submitRequest(await bus.as(user), REQUEST)).toEqual(ACCEPTED);
    expect(await submitRequest(await bus.as(user), new TextEncoder().encode(REQUEST))).toEqual(ACCEPTED);
    expect(received).toEqual([REQUEST, REQUEST]);
  });

  it('gives a refusal in its words, and does not ask again', async () => {
    const received = await taker([refusalOf('NO_PLANNER')]);
    const reason = { code: 'NO_PLANNER', message: 'it is NO_PLANNER', issues: [] };
    expect(await submit({ tries: 3 })).toEqual({ answer: 'rejected', reason });
    expect(received).toHaveLength(1);
  });

  it.each<[string, SubmitAnswer | string | undefined, object]>([
    ['does not know yet', refusalOf('TRY_AGAIN'), { met: 'try-again', reason: { message: 'it is TRY_AGAIN' } }],
    ['answers nonsense', '{"runId":7}', { met: 'nonsense' }],
    ['answers no JSON', 'yes', { met: 'nonsense' }],
  ])('asks one that %s as often as it was told to, and may have been heard', async (_, answer, met) => {
    const received = await taker([answer]);
    expect(await submit()).toMatchObject({ answer: 'unknown', mayBeTaken: true, ...met });
    expect(received).toHaveLength(1);
    expect(await submit({ tries: 2 })).toMatchObject({ answer: 'unknown', mayBeTaken: true, ...met });
    expect(received).toEqual([REQUEST, REQUEST, REQUEST]);
  });

  it('takes the first answer that is final', async () => {
    const received = await taker([refusalOf('TRY_AGAIN'), 'nonsense', TAKEN]);
    expect(await submit({ deadlineMs: 60_000 })).toEqual(ACCEPTED);
    expect(received).toHaveLength(3);
  });

  it('asks until the deadline, and no longer, one that is silent', async () => {
    const received = await taker([undefined]);
    expect(await submit({ deadlineMs: 1_000 })).toMatchObject({ answer: 'unknown', met: 'silence', mayBeTaken: true });
    expect(received).toHaveLength(1);
  });

  it('says at once that nobody is there, and that nothing was taken', async () => {
    expect(await submit({ tries: 3 })).toMatchObject({ answer: 'unknown', met: 'nobody', mayBeTaken: false });
  });

  it('waits for somebody when it is told to, and the abort makes a try the last', async () => {
    const waiting = submit({ deadlineMs: 60_000, waitsForTaker: true });
    await taker([TAKEN]);
    expect(await waiting).toEqual(ACCEPTED);
    ends.splice(0).forEach((end) => end());
    await orchestrator.flush();
    const patience = { deadlineMs: 60_000, waitsForTaker: true, signal: AbortSignal.abort() };
    expect(await submit(patience)).toMatchObject({ met: 'nobody' });
  });

  it('remembers that an earlier try may have been heard', async () => {
    const subscription = orchestrator.subscribe(subjects.submit, {
      callback: (_, message) => {
        subscription.unsubscribe();
        message.respond(JSON.stringify(refusalOf('TRY_AGAIN')));
      },
    });
    await orchestrator.flush();
    expect(await submit({ tries: 2 })).toMatchObject({ met: 'nobody', mayBeTaken: true });
  });

  it('a connection that is closed is no answer', async () => {
    const [{ url }, seedFile] = [bus.server, bus.seedFile('cli')];
    const nc = await connectBus({ url, seedFile, name: 'closed', inboxPrefix: '_INBOX_cli' });
    await nc.close();
    expect(await submitRequest(nc, REQUEST)).toMatchObject({ answer: 'unknown', met: 'silence' });
  });
});
