import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { DURABLES, subjects } from '#proto';
import { moment, startTestNats, type TestNats } from '#libs/testing';
import { provision } from '../streams/index.js';
import { consumeDurable, type Consumption } from './consume.adapter.js';
import { DurableWatch } from './durable-watch.adapter.js';
import { DONE } from './outcome.js';

const LOOK_MS = 20;
const spec = DURABLES.requests;
const password = 'p'.repeat(32);
const API = '$JS.API';
/** A service that may see its durable, and is not let take anything from it. */
const DEAF = [`${API}.CONSUMER.LIST.REQUESTS`, `${API}.CONSUMER.INFO.REQUESTS.*`, `${API}.STREAM.INFO.REQUESTS`];

let server: TestNats;
let admin: NatsConnection;
let consumption: Consumption;
let watch: DurableWatch;

const as = (user: string): Promise<NatsConnection> =>
  connect({ servers: server.url, user, pass: password, inboxPrefix: `_INBOX_${user}`, maxReconnectAttempts: -1 });

beforeAll(async () => {
  const users = [
    { name: 'admin', password, publish: ['>'], subscribe: ['>'] },
    { name: 'deaf', password, publish: DEAF, subscribe: ['_INBOX_deaf.>'] },
  ];
  server = await startTestNats({ users, provisioned: true });
  admin = await as('admin');
});
beforeEach(() => watchAs(admin));
afterEach(async () => {
  await watch.end();
  await consumption.stop();
});
afterAll(async () => {
  await admin.close();
  await server.stop();
});

function watchAs(nc: NatsConnection): void {
  consumption = consumeDurable(nc, spec, async () => DONE, { service: 'orchestrator' });
  watch = new DurableWatch(nc, () => [consumption], LOOK_MS);
  watch.begin();
}

/** Looks until it is so; the test's own limit ends it. */
async function says(problem: string | undefined): Promise<void> {
  while (watch.problem !== problem) await moment();
}

describe('a durable that a service takes from', () => {
  it('is told of by name and field when it is changed, and is well again when setup has been at work', async () => {
    const jsm = await jetstreamManager(admin);
    await jsm.consumers.update(spec.stream, spec.durable, { headers_only: true });
    await says(
      'the durable orchestrator-requests of REQUESTS is not as it has to be: headers_only is true, not absent',
    );
    await provision(admin);
    await says(undefined);
  });

  it('is told of when it is paused', async () => {
    const until = '2100-01-01T00:00:00Z';
    await (await jetstreamManager(admin)).consumers.pause(spec.stream, spec.durable, new Date(until));
    await says(
      `the durable orchestrator-requests of REQUESTS is not as it has to be: pause_until is "${until}", not absent`,
    );
    await provision(admin);
    await says(undefined);
  });

  it('is told of when it is deleted', async () => {
    await (await jetstreamManager(admin)).consumers.delete(spec.stream, spec.durable);
    await says('the durable orchestrator-requests of REQUESTS is not there');
    await provision(admin);
    await says(undefined);
  });

  it('is told of when messages wait and do not come', async () => {
    await watch.end();
    await consumption.stop();
    const deaf = await as('deaf');
    watchAs(deaf);
    await jetstream(admin).publish(subjects.requests, '{}');
    await says(
      'the durable orchestrator-requests of REQUESTS stands still: num_pending is 1, and nothing of it is delivered',
    );
    const helper = consumeDurable(admin, spec, async () => DONE, { service: 'orchestrator' });
    await says(undefined);
    await helper.stop();
    await deaf.close();
  });
});
