import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { verifyActorProof } from '#libs/keys';
import { startTestBus, type TestBus } from '#libs/testing';
import { subjects, VERB_BODIES, type ActorProof, type RunVerb, type VerbAnswer, type VerbFields } from '#proto';
import { connectBus } from '../connection/bus.client.js';
import { sendVerb, type VerbRequest } from './verbs.client.js';

const RUN = 'run-1';
const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const ACCEPTED: VerbAnswer = { answer: 'accepted', sequence: 17 };
const TRY_AGAIN: VerbAnswer = {
  answer: 'rejected',
  reason: { code: 'TRY_AGAIN', message: 'It is not known yet.', issues: [] },
  sequence: 0,
};

type Received = Record<string, unknown> & { id: string; actor: ActorProof };

let bus: TestBus;
let seed: string;
let cli: NatsConnection;
/** What ends the fake owners of runs. */
const ends: (() => void)[] = [];

beforeAll(async () => {
  bus = await startTestBus();
  cli = await bus.as('cli');
  seed = await bus.seedOf('cli');
});
afterEach(async () => {
  ends.splice(0).forEach((end) => end());
  await (await bus.as('orchestrator')).flush(); // nobody may ask one that is gone
});
afterAll(() => bus.stop());

/** Somebody who serves runs and answers as told; `undefined` is no answer at all. The last answer stays. */
async function owner(answers: readonly (VerbAnswer | string | undefined)[]): Promise<Received[]> {
  const nc = await bus.as('orchestrator');
  const received: Received[] = [];
  const subscription = nc.subscribe(subjects.anyVerb, {
    callback: (_, message) => {
      const answer = answers[Math.min(received.length, answers.length - 1)];
      received.push(message.json<Received>());
      if (answer !== undefined) message.respond(typeof answer === 'string' ? answer : JSON.stringify(answer));
    },
  });
  ends.push(() => subscription.unsubscribe());
  await nc.flush();
  return received;
}

function send(request: Partial<VerbRequest<'CANCEL'>> = {}, nc = cli) {
  const fields: VerbFields<'CANCEL'> = { reason: 'wrong device' };
  return sendVerb(nc, { runId: RUN, verb: 'CANCEL', fields, seed, now: () => NOW, ...request });
}

/** A clock that stands still until so many tries have been answered, and then is past every deadline: a busy machine takes no time of them. */
function overWith(tries: number): () => number {
  let looks = 0;
  // One for the deadline, and two for each try: how long it may take, and whether there is another one.
  return () => (++looks > 2 * tries ? Number.MAX_SAFE_INTEGER : 0);
}

/** What of the time of the first try is only waited for is left out: by this clock there is little left for it, and for the next ones enough. */
function soonAgain(): { deadlineMs: number; monotonicMs: () => number } {
  let looks = 0;
  return { deadlineMs: 60_000, monotonicMs: () => (++looks === 2 ? 59_000 : 0) };
}

describe('sendVerb', () => {
  it('sends what the verb takes, signed for this run and this verb', async () => {
    const [received, answer] = [await owner([ACCEPTED]), await send()];
    expect(answer).toEqual(ACCEPTED);
    const [body] = received;
    if (body === undefined) throw new Error('nothing was sent');
    expect(VERB_BODIES.CANCEL.parse(body)).toEqual({
      id: expect.any(String),
      reason: 'wrong device',
      actor: body.actor,
    });
    const provenFor = (subject: string) => verifyActorProof(body.actor, { subject, body, now: NOW }).ok;
    expect(provenFor(subjects.verb(RUN, 'CANCEL'))).toBe(true);
    expect([provenFor(subjects.verb('run-2', 'CANCEL')), provenFor(subjects.verb(RUN, 'PAUSE'))]).toEqual([
      false,
      false,
    ]);
  });

  it.each<[RunVerb, VerbFields<RunVerb>]>([
    ['PAUSE', { reason: undefined }],
    ['RESUME', {}],
    ['RETRY', { taskId: 'a' }],
    ['FORK', { at: 3 }],
    ['PROPOSE', { proposal: { editId: null, try: 1, baseRevision: null, state: 'CONTINUE', edits: [] } }],
  ])('sends %s so that its proof holds for what arrives', async (verb, fields) => {
    const received = await owner([ACCEPTED]);
    await sendVerb(cli, { runId: RUN, verb, fields, seed, now: () => NOW });
    const [body] = received;
    if (body === undefined) throw new Error('nothing was sent');
    expect(VERB_BODIES[verb].safeParse(body).success).toBe(true);
    expect(verifyActorProof(body.actor, { subject: subjects.verb(RUN, verb), body, now: NOW }).ok).toBe(true);
  });

  it('makes an id of its own for every intent', async () => {
    const received = await owner([ACCEPTED]);
    await send();
    await send();
    await send({ id: 'mine' });
    const ids = received.map(({ id }) => id);
    expect([new Set(ids).size, ids[2]]).toEqual([3, 'mine']);
  });

  it('an owner that does not know yet is asked again with the same id, signed anew', async () => {
    const received = await owner([TRY_AGAIN, TRY_AGAIN, ACCEPTED]);
    let ticks = 0;
    const why: string[] = [];
    expect(await send({ now: () => NOW + ticks++, onRepeat: (reason) => why.push(reason) })).toEqual(ACCEPTED);
    expect(new Set(received.map(({ id }) => id)).size).toBe(1);
    expect(new Set(received.map(({ actor }) => actor.at)).size).toBe(3);
    expect(why).toEqual(['It is not known yet.', 'It is not known yet.']);
  });

  it('a run that nobody serves is asked for until somebody does', async () => {
    let served: Promise<Received[]> | undefined;
    const why: string[] = [];
    const answer = await send({
      id: 'mine',
      onRepeat: (reason) => {
        why.push(reason);
        served ??= owner([ACCEPTED]);
      },
    });
    expect(answer).toEqual(ACCEPTED);
    expect(why[0]).toBe('Nobody serves the run at the moment.');
    expect((await served)?.map(({ id }) => id)).toEqual(['mine']);
  });

  it('an answer that is lost is asked for again with the same id', async () => {
    const received = await owner([undefined, ACCEPTED]);
    expect(await send(soonAgain())).toEqual(ACCEPTED);
    expect(new Set(received.map(({ id }) => id)).size).toBe(1);
    expect(received).toHaveLength(2);
  });

  it('a server that goes away and comes back does not end it', async () => {
    const nc = await bus.as('orchestrator');
    const received: string[] = [];
    const subscription = nc.subscribe(subjects.anyVerb, {
      callback: (_, message) => {
        received.push(message.json<Received>().id);
        if (received.length === 1) void bus.server.restart();
        else message.respond(JSON.stringify(ACCEPTED));
      },
    });
    ends.push(() => subscription.unsubscribe());
    await nc.flush();
    expect(await send()).toEqual(ACCEPTED);
    // While the server is away it may be asked for more than once.
    expect(received.length).toBeGreaterThan(1);
    expect(new Set(received).size).toBe(1);
  });

  it.each<VerbAnswer>([
    { answer: 'rejected', reason: { code: 'INVALID_STATE', message: 'It has ended.', issues: [] }, sequence: 9 },
    { answer: 'ignored', reason: { code: 'IGNORED', message: 'It is paused already.', issues: [] }, sequence: 9 },
    { answer: 'accepted', sequence: 1, runId: 'run-2' },
  ])('takes %j for the last word', async (answer) => {
    const received = await owner([answer]);
    expect(await send()).toEqual(answer);
    expect(received).toHaveLength(1);
  });

  it.each<[string, readonly (VerbAnswer | string | undefined)[], string]>([
    ['that does not answer', [undefined], 'Whoever serves the run did not answer in time.'],
    ['that never knows', [TRY_AGAIN], 'It is not known yet.'],
    ['that answers nonsense', ['{"answer":"maybe"}', 'not JSON'], 'Whoever serves the run gave no valid answer.'],
  ])('of an owner %s the outcome is unknown in the end', async (_, answers, why) => {
    const received = await owner(answers);
    const time = answers.includes(undefined) ? { deadlineMs: 700 } : { monotonicMs: overWith(answers.length) };
    expect(await send({ id: 'mine', ...time })).toEqual({ answer: 'unknown', id: 'mine', why });
    expect(new Set(received.map(({ id }) => id))).toEqual(new Set(['mine']));
  });

  it('of a run that nobody ever serves the outcome is unknown in the end', async () =>
    expect(await send({ id: 'mine', monotonicMs: overWith(2) })).toEqual({
      answer: 'unknown',
      id: 'mine',
      why: 'Nobody serves the run at the moment.',
    }));

  it('interrupted while it waits, it sends nothing more', async () => {
    const stop = new AbortController();
    const received = await owner([TRY_AGAIN]);
    expect(await send({ signal: stop.signal, onRepeat: () => stop.abort() })).toMatchObject({
      answer: 'unknown',
      why: 'It was interrupted before the answer came.',
    });
    expect(received).toHaveLength(1);
    expect(await send({ signal: AbortSignal.abort() })).toMatchObject({ answer: 'unknown' });
    expect(received).toHaveLength(1);
  });

  it('interrupted while it is being answered, it ends at once', async () => {
    const stop = new AbortController();
    const nc = await bus.as('orchestrator');
    const subscription = nc.subscribe(subjects.anyVerb, { callback: () => stop.abort() });
    ends.push(() => subscription.unsubscribe());
    await nc.flush();
    expect(await send({ signal: stop.signal })).toMatchObject({ answer: 'unknown' });
  });

  it('a user who may not send it is told so, and nobody is asked twice', async () => {
    const received = await owner([ACCEPTED]);
    const answer = await send({}, await bus.as('auditor'));
    expect(answer).toMatchObject({ answer: 'rejected', reason: { code: 'UNAUTHORIZED' } });
    expect(received).toEqual([]);
  });

  it('a command that is larger than the bus takes is refused before it is sent', async () => {
    const reason = 'x'.repeat(cli.info?.max_payload ?? 0);
    expect(await send({ fields: { reason } })).toMatchObject({ answer: 'rejected', reason: { code: 'TOO_LARGE' } });
  });

  it('on a connection that is closed the outcome is unknown', async () => {
    const nc = await connectBus({
      url: bus.server.url,
      seedFile: bus.seedFile('cli'),
      name: 'closed',
      inboxPrefix: '_INBOX_cli',
    });
    await nc.close();
    expect(await send({}, nc)).toMatchObject({ answer: 'unknown', why: 'The connection to the bus was closed.' });
  });
});
