import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { AgentProfile } from '#proto';
import { createLogger, openPostgres, type Postgres } from '#libs/platform';
import { startTestPostgres, type TestPostgres } from '#libs/testing';
import { DeviceEntity } from './projections/device.entity.js';
import { DeviceRows } from './projections/device-rows.adapter.js';
import { connected, enrolled, given } from './given.testing.js';
import { profileOf } from './projections/profile.js';

const LOOK_MS = 20;
const logger = createLogger({ service: 'registry', instance: 'a', level: 'silent' });

let server: TestPostgres;
let client: Client;
const opened: Postgres[] = [];
const stop = new AbortController();

beforeAll(async () => {
  server = await startTestPostgres();
  client = new Client({ connectionString: server.url });
  await client.connect();
});
afterAll(async () => {
  stop.abort();
  for (const postgres of opened) await postgres.onApplicationShutdown();
  await client?.end();
  await server?.stop();
});

async function open(url = server.url): Promise<Postgres> {
  const postgres = await openPostgres({
    url,
    schema: 'registry',
    entities: [DeviceEntity],
    logger,
    signal: stop.signal,
  });
  opened.push(postgres);
  return postgres;
}

const profile = (changes: Partial<AgentProfile> = {}): AgentProfile => {
  const device = given(enrolled(), connected('s1'));
  if (device === undefined) throw new Error('no device');
  return { ...profileOf(device, null), ...changes };
};
const write = (store: DeviceRows, written: AgentProfile): Promise<void> =>
  store.write(written.deviceId, async () => written);
const rows = async (): Promise<unknown[]> =>
  (await client.query('select device_id, status, revision, profile from registry.device order by device_id')).rows;

describe('registry.device', () => {
  it('is made by whichever of two replicas comes first', async () => {
    const replicas = await Promise.all([open(), open()]);
    await Promise.all(replicas.map((postgres) => postgres.ready()));
    expect(await rows()).toEqual([]);
    const tables = await client.query(
      `select schemaname || '.' || tablename as name from pg_tables where tablename = 'device'`,
    );
    expect(tables.rows).toEqual([{ name: 'registry.device' }]);
  });

  it('holds the newest revision, whatever order and however often it is written', async () => {
    const store = new DeviceRows(await open());
    const [older, newer] = [profile({ revision: 2 }), profile({ revision: 3, status: 'suspect' })];
    for (const written of [newer, older, newer, older]) await write(store, written);
    expect(await rows()).toEqual([{ device_id: 'web-1', status: 'suspect', revision: 3, profile: newer }]);
    expect(await store.list()).toEqual(['web-1']);
    await store.remove('web-1');
    expect(await rows()).toEqual([]);
  });

  it('works again after the server dropped every connection', async () => {
    const postgres = await open();
    const store = new DeviceRows(postgres);
    await write(store, profile());
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
      'orrery-registry',
    ]);
    for (;;) {
      const written = await write(store, profile({ revision: 9 })).then(
        () => true,
        () => false,
      );
      if (written) break;
      await sleep(LOOK_MS);
    }
    await postgres.check();
    expect(await rows()).toMatchObject([{ revision: 9 }]);
  });

  it('is waited for while there is no server', async () => {
    const nobody = new URL(server.url);
    nobody.port = '1';
    const postgres = await open(nobody.href);
    expect(postgres.isReady()).toBe(false);
    await expect(postgres.check()).rejects.toThrow('not connected yet');
  });
});
