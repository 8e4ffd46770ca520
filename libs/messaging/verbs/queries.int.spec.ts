import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { QueryError, subjects } from '#proto';
import { notAsked, ANYBODY, asksAsAnybody, startTestNats } from '#libs/testing';
import type { TestNats } from '#libs/testing';
import { connectBus } from '../connection/bus.client.js';
import { ConnectionWatch } from '../connection/index.js';
import { query, queryAll, serveQueries } from './queries.adapter.js';
import type { QueryHandlers, Served } from './queries.adapter.js';
import { QueryRefusedError, QueryUnavailableError } from './refused.js';

const RUN = '0123456789abcdefghjkmnpqrs';
/** A limit for what hangs: what is slow has a busy machine. */
const ANSWER_MS = 60_000;

describe('queries', () => {
  let server: TestNats;
  let nc: NatsConnection;
  let served: Served;
  const failures: string[] = [];
  const handlers: QueryHandlers<'logging'> = {
    ...notAsked('logging'),
    runs: ({ limit }) =>
      limit === 7 ? Promise.reject(new Error('the database is away')) : Promise.resolve({ runs: [] }),
    run: ({ runId }) =>
      Promise.reject(new QueryRefusedError({ code: 'NOT_FOUND', message: `There is no run ${runId}.`, issues: [] })),
    approvals: () => Promise.resolve({ approvals: [] }),
    report: ({ runId }) => Promise.resolve({ runId, markdown: `# ${runId}` }),
    search: () => Promise.reject(new Error('nobody asks')),
  };
  beforeAll(async () => {
    server = await startTestNats();
    nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
    served = await serveQueries(nc, 'logging', handlers, {
      authority: ANYBODY,
      report: (_, name) => failures.push(name),
    });
    asksAsAnybody(nc);
  });
  afterAll(async () => {
    await nc.close();
    await server.stop();
  });

  /** A question as it stands, whatever it is. */
  const put = (text: string) => nc.request(subjects.query('logging', 'runs'), text, { timeout: ANSWER_MS });

  it('are answered with what was promised', async () => {
    expect(await query(nc, 'logging', 'report', { runId: RUN })).toEqual({ runId: RUN, markdown: `# ${RUN}` });
    expect(await query(nc, 'logging', 'runs', {})).toEqual({ runs: [] });
  });

  it('that every replica answers for itself reach all of them, and the others one', async () => {
    const asked: string[] = [];
    const replica = (instance: string) =>
      serveQueries(
        nc,
        'planner',
        {
          ...notAsked('planner'),
          settings: () =>
            Promise.resolve({ instance, policy: null, prompts: [], models: [], visual: false, replays: false }),
          runbooks: () => {
            asked.push(instance);
            return Promise.resolve({ runbooks: [], problems: [] });
          },
        },
        { authority: ANYBODY },
      );
    await expect(queryAll(nc, 'planner', 'settings', {})).rejects.toThrow(QueryUnavailableError);
    const replicas = [await replica('one'), await replica('two')];
    const answers = await queryAll(nc, 'planner', 'settings', {}, { stallMs: 2_000 });
    expect(answers.map(({ instance }) => instance).toSorted((left, right) => left.localeCompare(right))).toEqual([
      'one',
      'two',
    ]);
    await query(nc, 'planner', 'runbooks', {});
    expect(asked).toHaveLength(1);
    for (const one of replicas) await one.stop();
  });

  it('are refused with a reason', async () => {
    const refused = query(nc, 'logging', 'run', { runId: RUN });
    await expect(refused).rejects.toThrow(QueryRefusedError);
    await expect(refused).rejects.toThrow(`There is no run ${RUN}.`);
  });

  it('are refused when they are not valid, with the path', async () => {
    const asked = async (request: object) => {
      const error: unknown = await query(nc, 'logging', 'runs', request).catch((refusal: unknown) => refusal);
      return (error as QueryRefusedError).refusal;
    };
    const raw = QueryError.parse((await put('{')).json());
    expect(raw.error.code).toBe('INVALID_JSON');
    expect(await asked({ limit: 0 })).toMatchObject({ code: 'INVALID_REQUEST', issues: [{ path: 'limit' }] });
    expect((await asked({ limits: 1 })).issues).toEqual([
      { path: 'limits', message: 'unknown field; did you mean "limit"?' },
    ]);
  });

  it('are answered to nobody who does not say who he is', async () => {
    for (const body of ['', '{}', '[]', '"x"', 'null', '{"limit":1}']) {
      const { error } = QueryError.parse((await put(body)).json());
      expect(error).toMatchObject({ code: 'UNAUTHORIZED', message: 'It is not signed.', issues: [{ path: 'actor' }] });
    }
    const half = await put('{"actor":{"key":"U1"}}');
    expect(QueryError.parse(half.json()).error).toMatchObject({
      code: 'INVALID_REQUEST',
      issues: [{ path: 'actor.key' }, {}, {}],
    });
  });

  it('tell nothing of what went wrong inside', async () => {
    const failed = query(nc, 'logging', 'runs', { limit: 7 });
    await expect(failed).rejects.toThrow('The service could not answer this now.');
    expect(failures).toEqual(['runs']);
  });

  it('say in one sentence that nobody is there', async () => {
    const nobody = query(nc, 'registry', 'devices', {});
    await expect(nobody).rejects.toThrow(QueryUnavailableError);
    await expect(nobody).rejects.toThrow('The registry service is not running.');
  });

  it('say in one sentence that nobody answers', async () => {
    const silent = nc.subscribe(subjects.query('registry', 'devices'));
    await nc.flush();
    await expect(query(nc, 'registry', 'devices', {}, { timeoutMs: 100 })).rejects.toThrow('did not answer in 0.1 s');
    silent.unsubscribe();
  });

  it('are put once more when the first answer does not come, and not when that would give two secrets', async () => {
    const heard: string[] = [];
    const deaf = nc.subscribe('orrery.v.registry.>', {
      callback: (_, message) => {
        heard.push(message.subject);
        if (heard.length === 2) message.respond('{"devices":[]}');
      },
    });
    await nc.flush();
    // The second has half of it to be answered in, on a busy machine, too.
    expect(await query(nc, 'registry', 'devices', {}, { timeoutMs: 4_000 })).toEqual({ devices: [] });
    await expect(query(nc, 'registry', 'enroll', {}, { timeoutMs: 100 })).rejects.toThrow('did not answer in 0.1 s');
    await nc.flush(); // what was put before is heard by then
    expect(heard).toEqual(['devices', 'devices', 'enroll'].map((name) => subjects.query('registry', name)));
    deaf.unsubscribe();
  });

  it('do not pass on an answer that is not valid', async () => {
    const wrong = nc.subscribe(subjects.query('registry', 'devices'), {
      callback: (_, message) => void message.respond('{"devices":[{}]}'),
    });
    await nc.flush();
    await expect(query(nc, 'registry', 'devices', {})).rejects.toThrow('gave an answer that is not valid');
    wrong.unsubscribe();
  });

  it('are not kept back for a bus that is away, and are answered when it is back', async () => {
    await server.kill9();
    const broken = new AbortController();
    const stopListening = ConnectionWatch.of(nc).onBreak(() => broken.abort());
    if (ConnectionWatch.of(nc).isConnected && !broken.signal.aborted) await once(broken.signal, 'abort');
    stopListening();
    await expect(query(nc, 'logging', 'runs', {})).rejects.toThrow('The bus cannot be reached now.');
    await server.restart();
    await ConnectionWatch.of(nc).back(new AbortController().signal);
    expect(await query(nc, 'logging', 'runs', {})).toEqual({ runs: [] });
  });

  it('can be discovered, and end', async () => {
    const found = await nc.request('$SRV.INFO.orrery-logging', '', { timeout: ANSWER_MS });
    expect(found.json()).toMatchObject({
      name: 'orrery-logging',
      endpoints: expect.arrayContaining([expect.objectContaining({ subject: 'orrery.v.logging.run' })]),
    });
    await served.stop();
    await expect(query(nc, 'logging', 'runs', {})).rejects.toThrow('The logging service is not running.');
  });
});
