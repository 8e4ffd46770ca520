import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { subjects } from '#proto';
import { moment, startTestNats } from '#libs/testing';
import type { TestNats } from '#libs/testing';
import { connectBus } from '../connection/bus.client.js';
import { ConnectionWatch } from '../connection/connection-watch.adapter.js';
import { DeviceTimers, RunTimers, TimerBody, TimerConflictError } from './timers.adapter.js';

const HOUR_MS = 60 * 60 * 1000;

describe('RunTimers', () => {
  let server: TestNats;
  let nc: NatsConnection;
  beforeAll(async () => {
    server = await startTestNats({ provisioned: true });
    nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
    ConnectionWatch.of(nc);
  });
  afterAll(async () => {
    await nc.close();
    await server.stop();
  });
  // The server fires by its own clock, so these instants are real ones.
  const inOneHour = () => Date.now() + HOUR_MS;
  const due = async (subject: string) => {
    const consumer = await jetstream(nc).consumers.get('TIMERS', { filter_subjects: subject });
    const message = await consumer.next({ expires: 20_000 });
    if (message === null) throw new Error('nothing became due');
    return message;
  };
  const pendingOf = async (runId: string) =>
    (await jetstreamManager(nc)).streams.getMessage('TIMERS', { last_by_subj: subjects.runTimer(runId) });

  it('remembers nothing that was never armed', async () => {
    expect(await new RunTimers(nc).armed('never')).toBeUndefined();
  });

  it('keeps one instant per run: arming again replaces it', async () => {
    const timers = new RunTimers(nc);
    const at = inOneHour();
    await timers.arm('replaced', at);
    await timers.arm('replaced', at + 1);
    expect(await new RunTimers(nc).armed('replaced')).toBe(at + 1);
    const { state } = await (await jetstreamManager(nc)).streams.info('TIMERS', { subjects_filter: '>' });
    expect(state.subjects?.[subjects.runTimer('replaced')]).toBe(1);
  });

  it('refuses to replace what another replica armed meanwhile, until it has looked', async () => {
    const [mine, theirs] = [new RunTimers(nc), new RunTimers(nc)];
    const at = inOneHour();
    expect(await mine.armed('contested')).toBeUndefined();
    await theirs.arm('contested', at);
    await expect(mine.arm('contested', at + 1)).rejects.toThrow(TimerConflictError);
    expect(await mine.armed('contested')).toBe(at);
    await mine.arm('contested', at + 2);
    await expect(theirs.arm('contested', at + 3)).rejects.toThrow(TimerConflictError);
    expect(await theirs.armed('contested')).toBe(at + 2);
  });

  it('becomes a due message with its instant, and is pending no more', async () => {
    const timers = new RunTimers(nc);
    const at = Date.now() + 1;
    await timers.arm('due', at);
    const message = await due(subjects.runDue('due'));
    expect(Date.parse(TimerBody.parse(message.json()).at)).toBe(at);
    while ((await pendingOf('due')) !== null) await moment();
    expect(await new RunTimers(nc).armed('due')).toBeUndefined();
  });

  it('can be armed again after it fired, by who knew only that it was armed', async () => {
    const timers = new RunTimers(nc);
    await timers.arm('again', Date.now() - 1_000);
    await due(subjects.runDue('again'));
    const at = inOneHour();
    await timers.arm('again', at);
    expect(await timers.armed('again')).toBe(at);
  });

  it('lets due messages expire, pending ones never', async () => {
    const timers = new RunTimers(nc);
    await timers.arm('ttl', inOneHour());
    expect((await pendingOf('ttl'))?.header.get('Nats-TTL')).toBe('');
    await timers.arm('ttl', Date.now());
    expect((await due(subjects.runDue('ttl'))).headers?.get('Nats-TTL')).toBe('2592000s');
  });

  it('fires what became due while the server was dead', async () => {
    const timers = new DeviceTimers(nc);
    await timers.arm('web-1', Date.now() + 200);
    await server.kill9();
    await server.restart();
    const message = await ConnectionWatch.of(nc).request(() => due(subjects.deviceDue('web-1')));
    expect(message.subject).toBe(subjects.deviceDue('web-1'));
  });
});
