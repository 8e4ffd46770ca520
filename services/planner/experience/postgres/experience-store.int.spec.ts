import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { createLogger, openPostgres, type Postgres } from '#libs/platform';
import { startTestPostgres, type TestPostgres } from '#libs/testing';
import {
  AddEmbedding1763798400000,
  CreateExperience1763712000000,
  EXPERIENCE_MIGRATIONS,
  EXPERIENCE_SCHEMA,
  ExperienceEntity,
} from './experience.entity.js';
import { openExperienceStore } from './experience-store.adapter.js';
import { experienceStoreContract, learnt } from '../experience-store.contract.js';
import { experienceOf, ExperiencesAwayError } from '../experience-store.js';

const logger = createLogger({ service: 'planner', instance: 'a', level: 'silent' });
const stop = new AbortController();
const opened: Postgres[] = [];
let server: TestPostgres;
let client: Client;

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
    schema: EXPERIENCE_SCHEMA,
    entities: [ExperienceEntity],
    migrations: EXPERIENCE_MIGRATIONS,
    logger,
    signal: stop.signal,
  });
  opened.push(postgres);
  return postgres;
}

let shared: Promise<Postgres> | undefined;

experienceStoreContract('PostgreSQL', async () => {
  const postgres = await (shared ??= open());
  await (await postgres.ready()).query('truncate planner.experience');
  return openExperienceStore(postgres);
});

describe('planner.experience', () => {
  it('is made once by replicas that start together, and is there after a restart', async () => {
    const replicas = await Promise.all([open(), open()]);
    await Promise.all(replicas.map((postgres) => postgres.ready()));
    const disks = learnt('kept', 'Report the disks');
    for (const postgres of replicas) await openExperienceStore(postgres).add(disks);
    const later = await open();
    await later.ready();
    expect(await openExperienceStore(later).find('kept')).toEqual(experienceOf(disks));
    const { rows } = await client.query('select name from planner.migration');
    expect(rows).toEqual([{ name: 'CreateExperience1763712000000' }, { name: 'AddEmbedding1763798400000' }]);
  });

  it('keeps the calls that a demonstration took, and shows them to nobody who asks for examples', async () => {
    const call = { model: 'm', reply: '{}' };
    const postgres = await open();
    await postgres.ready();
    const calls = [call] as unknown as ReturnType<typeof learnt>['calls'];
    await openExperienceStore(postgres).add(learnt('shown', 'Show it', { kind: 'demonstration', calls }));
    expect((await client.query(`select calls from planner.experience where id = 'shown'`)).rows).toEqual([
      { calls: [call] },
    ]);
    expect(await openExperienceStore(postgres).find('shown')).not.toHaveProperty('calls');
  });

  it('gets embeddings when it was made without', async () => {
    const older = await open();
    const source = await older.ready();
    const runner = source.createQueryRunner();
    await new AddEmbedding1763798400000().down(runner);
    await new CreateExperience1763712000000().down(runner);
    await new CreateExperience1763712000000().up(runner);
    await runner.query(`insert into planner.experience
      values ('old', 'experience', 'Report the disks', '[]', '{"tasks":[]}', 'r', 'anna', now(), '[]', '[]')`);
    await new AddEmbedding1763798400000().up(runner);
    await runner.release();
    const store = openExperienceStore(older);
    const { id, request } = learnt('old', 'Report the disks');
    expect(await store.unembedded('m/1')).toEqual([{ id, request, hasOther: false }]);
    expect(await store.embed({ id, request }, { model: 'm/1', vector: Float32Array.of(1) })).toBe(true);
  });

  it('finds by the index of words', async () => {
    await client.query('set enable_seqscan = off');
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain select id from planner.experience where words @@ '''disk'' | ''space'''::tsquery`,
    );
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('experience_words');
  });

  it('is away as long as there is no server, and says so at once', async () => {
    const nobody = new URL(server.url);
    nobody.port = '1';
    const store = openExperienceStore(await open(nobody.href));
    const embedding = { model: 'm/1', vector: Float32Array.of(1) };
    const asking = [
      store.nearest(embedding, { similarityMin: 0 }),
      store.unembedded(null),
      store.embed(learnt('a', 'b'), embedding),
    ];
    for (const asked of [
      store.similar('disk'),
      store.list({}),
      store.add(learnt('a', 'b')),
      store.remove('a'),
      ...asking,
    ]) {
      await expect(asked).rejects.toThrow(ExperiencesAwayError);
    }
  });

  it('is away when the server went, and is no excuse for a statement that is wrong', async () => {
    const postgres = await open();
    await postgres.ready();
    const store = openExperienceStore(postgres);
    await client.query('alter table planner.experience rename to elsewhere');
    await expect(store.find('a')).rejects.toThrow('does not exist');
    await client.query('alter table planner.elsewhere rename to experience');
    opened.splice(opened.indexOf(postgres), 1);
    await postgres.onApplicationShutdown();
    await expect(store.find('a')).rejects.toThrow(ExperiencesAwayError);
  });
});
