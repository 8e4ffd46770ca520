import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { fromSeed } from '@nats-io/nkeys';
import type { NatsConnection } from '@nats-io/transport-node';
import { startTestBus, startTestNats, type TestBus } from '#libs/testing';
import { subjects, type ActorProof, type SubmitAnswer } from '#proto';
import { verifyActorProof } from '#libs/keys';
import { connectBus } from '../connection/bus.client.js';
import { ConnectionWatch } from '../connection/index.js';
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

const AT = Date.parse('2026-11-20T15:40:40.489Z');
const signerOf = async (user: string) => ({ seed: await bus.seedOf(user), now: () => AT });
const submit = async (patience: SubmitPatience = {}) =>
  submitRequest(await bus.as('cli'), REQUEST, { ...patience, ...(await signerOf('cli')) });

/** The request without its proof, which is good. */
function proven(text: string | undefined): unknown {
  const { actor, ...request } = JSON.parse(text ?? '{}') as { actor: ActorProof };
  expect(verifyActorProof(actor, { subject: subjects.submit, body: request, now: AT })).toMatchObject({ ok: true });
  return { request: JSON.stringify(request), vouched: actor.vouched };
}

describe('submitRequest', () => {
  it.each(users)('sends a request of %s as it stands, signed, and says which run it became', async (user) => {
    const [nc, signer, received] = [await bus.as(user), await signerOf(user), await taker([TAKEN])];
    expect(await submitRequest(nc, REQUEST, signer)).toEqual(ACCEPTED);
    expect(await submitRequest(nc, new TextEncoder().encode(REQUEST), signer)).toEqual(ACCEPTED);
    expect(received.map(proven)).toEqual([{ request: REQUEST }, { request: REQUEST }]);
    const key = fromSeed(new TextEncoder().encode(signer.seed)).getPublicKey();
    for (const text of received) expect(JSON.parse(text)).toMatchObject({ actor: { key } });
  });

  it('says for whom it is sent, where that is somebody else', async () => {
    const received = await taker([TAKEN]);
    const vouched = { actor: 'anna', issuer: 'i', subject: 's', session: 'n' };
    await submitRequest(await bus.as('console'), REQUEST, { ...(await signerOf('console')), vouched });
    expect(received.map(proven)).toEqual([{ request: REQUEST, vouched }]);
  });

  it.each<[string, string, string, string]>([
    ['what is no JSON', 'nonsense', 'INVALID_JSON', ''],
    ['what is no object', '[]', 'INVALID_JSON', ''],
    ['a request that says itself who asks', '{"requestId":"r","goal":"x","actor":"me"}', 'INVALID_REQUEST', 'actor'],
    ['half a character', '{"requestId":"r","goal":"\\ud800"}', 'INVALID_REQUEST', ''],
    ['what is nested too deep', `{"metadata":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 'INVALID_REQUEST', ''],
  ])('refuses %s before anybody is asked', async (_, request, code, path) => {
    const outcome = await submitRequest(await bus.as('cli'), request, await signerOf('cli'));
    expect(outcome).toMatchObject({ answer: 'rejected', reason: { code, issues: [{ path }] } });
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
    expect(received.map(proven)).toEqual(received.map(() => ({ request: REQUEST })));
    expect(received).toHaveLength(3);
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

  it('says soon that nobody is there, and that nothing was taken', async () => {
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

  it('is not sent while the bus is away, and nobody waits for an answer that cannot come', async () => {
    const away = await startTestNats();
    const nc = await connectBus({ url: away.url, name: 'cli', inboxPrefix: '_INBOX_cli' });
    const broken = new Promise<void>((resolve) => ConnectionWatch.of(nc).onBreak(resolve));
    await away.kill9();
    await broken;
    const outcome = await submitRequest(nc, REQUEST, await signerOf('cli'));
    expect(outcome).toEqual({ answer: 'unknown', met: 'away', mayBeTaken: false });
    await nc.close();
    await away.stop();
  });

  it('a connection that is closed is no answer', async () => {
    const [{ url }, seedFile] = [bus.server, bus.seedFile('cli')];
    const nc = await connectBus({ url, seedFile, name: 'closed', inboxPrefix: '_INBOX_cli' });
    await nc.close();
    expect(await submitRequest(nc, REQUEST, await signerOf('cli'))).toMatchObject({
      answer: 'unknown',
      met: 'silence',
    });
  });
});
