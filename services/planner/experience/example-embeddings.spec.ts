import { describe, expect, it, jest } from '@jest/globals';
import { EMBEDDED_TEXTS_MAX, ScriptedEmbedder } from '#libs/llm';
import { ExampleEmbeddings } from './example-embeddings.runner.js';
import { learnt } from './experience-store.contract.js';
import { MemoryExperienceStore } from '../testing/memory-experience-store.js';

const GOAL = 'Which hosts are nearly out of room for files?';
const AWAY = { code: 'UNREACHABLE', message: 'nobody is there' } as const;
const REFUSED = { code: 'BAD_REQUEST', message: 'too long' } as const;

type Direction = ConstructorParameters<typeof ScriptedEmbedder>[0];
/** Files one way, everything else the other. */
const byFiles: Direction = (text) => (/file|disk/u.test(text) ? [1, 0] : [0, 1]);

/** A store with these requests, by id. */
async function storeOf(requests: Readonly<Record<string, string>>): Promise<MemoryExperienceStore> {
  const store = new MemoryExperienceStore();
  for (const [id, request] of Object.entries(requests)) await store.add(learnt(id, request));
  return store;
}

function embeddingsOf(store: MemoryExperienceStore, embedder: ScriptedEmbedder) {
  const said: object[] = [];
  const stop = new AbortController();
  const logger = { warn: (facts: object) => void said.push(facts) };
  const embeddings = new ExampleEmbeddings({ embedder, store, logger, signal: stop.signal });
  const near = async (goal = GOAL): Promise<string[]> => (await embeddings.near(goal)).map(({ id }) => id);
  /** After everything in the background is done. */
  const nearThen = async (goal = GOAL): Promise<string[]> => {
    await near(goal);
    await embeddings.idle();
    return near(goal);
  };
  return { embeddings, said, stop, near, nearThen };
}
const texts = ({ requests }: ScriptedEmbedder): (readonly string[])[] => requests.map((request) => request.texts);

describe('examples by what they are about', () => {
  it('are embedded when there is an endpoint, without anybody waiting for it', async () => {
    const store = await storeOf({ disks: 'Report full disks', logs: 'Collect logs' });
    const embedder = new ScriptedEmbedder(byFiles);
    const { embeddings, near, said } = embeddingsOf(store, embedder);
    expect(await near()).toEqual([]);
    await embeddings.idle();
    expect(await near()).toEqual(['disks']);
    expect(texts(embedder)).toEqual([[GOAL], ['Report full disks', 'Collect logs']]);
    expect(said).toEqual([]);
  });

  it('are embedded also when nothing was asked yet, and what is learnt later follows', async () => {
    const store = await storeOf({ disks: 'Report full disks' });
    const { embeddings, near } = embeddingsOf(store, new ScriptedEmbedder(byFiles));
    embeddings.catchUp();
    await embeddings.idle();
    expect(await near()).toEqual(['disks']);
    await store.add(learnt('files', 'Count files'));
    embeddings.catchUp();
    await embeddings.idle();
    expect(await near()).toEqual(['disks', 'files']);
    await store.remove('disks');
    expect(await near()).toEqual(['files']);
  });

  it('that come while others are embedded are embedded next', async () => {
    const store = await storeOf({ disks: 'Report full disks' });
    const embedder = new ScriptedEmbedder(byFiles);
    let open = (): void => {};
    embedder.gate = new Promise<void>((resolve) => (open = resolve));
    const { embeddings, near } = embeddingsOf(store, embedder);
    embeddings.catchUp();
    await store.add(learnt('files', 'Count files'));
    embeddings.catchUp();
    open();
    await embeddings.idle();
    expect(await near()).toEqual(['disks', 'files']);
  });

  it('are embedded a few at a time', async () => {
    const many = Array.from({ length: EMBEDDED_TEXTS_MAX + 1 }, (_, at) => [`e${at}`, `Count files ${at}`]);
    const embedder = new ScriptedEmbedder(byFiles);
    const { nearThen } = embeddingsOf(await storeOf(Object.fromEntries(many) as Record<string, string>), embedder);
    expect(await nearThen()).toHaveLength(EMBEDDED_TEXTS_MAX + 1);
    expect(texts(embedder).map(({ length }) => length)).toEqual([1, EMBEDDED_TEXTS_MAX, 1]);
  });

  it('are asked for once for the same goal', async () => {
    const embedder = new ScriptedEmbedder(byFiles);
    const { nearThen } = embeddingsOf(await storeOf({}), embedder);
    await nearThen();
    expect(texts(embedder)).toEqual([[GOAL]]);
  });

  it('are found by goals without what looks like a secret', async () => {
    const embedder = new ScriptedEmbedder(byFiles);
    await embeddingsOf(await storeOf({}), embedder).near('use --password hunter2 and AKIAABCDEFGHIJKLMNOP');
    expect(texts(embedder)).toEqual([['use --password [secret] and [secret]']]);
  });
});

describe('when the endpoint', () => {
  it('is away, there are none, which is said once until it is back', async () => {
    let isAway = true;
    const direction: Direction = (text) => (isAway ? AWAY : byFiles(text));
    const { embeddings, near, nearThen, said } = embeddingsOf(
      await storeOf({ disks: 'Report full disks' }),
      new ScriptedEmbedder(direction),
    );
    embeddings.catchUp();
    await embeddings.idle();
    expect([await near(), await near('Count files'), said]).toEqual([
      [],
      [],
      [{ code: AWAY.code, reason: AWAY.message }],
    ]);
    isAway = false;
    expect(await nearThen()).toEqual(['disks']);
    isAway = true;
    expect(await near()).toEqual(['disks']);
    await near('Another goal');
    expect(said).toHaveLength(2);
  });

  it('does not take an example, the others are embedded all the same', async () => {
    const direction: Direction = (text) => (text.includes('too long') ? REFUSED : byFiles(text));
    const requests = { disks: 'Report disks', poison: 'Count files, too long', files: 'Count files' };
    const embedder = new ScriptedEmbedder(direction);
    const { nearThen, embeddings, said } = embeddingsOf(await storeOf(requests), embedder);
    expect(await nearThen()).toEqual(['disks', 'files']);
    expect(said).toEqual([{ example: 'poison', code: 'BAD_REQUEST', reason: 'too long' }]);
    const asked = embedder.requests.length;
    embeddings.catchUp();
    await embeddings.idle();
    expect(embedder.requests).toHaveLength(asked);
  });

  it('takes no example at all, it is soon left alone', async () => {
    const requests = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`e${at}`, `Count ${at}`]));
    const embedder = new ScriptedEmbedder((text) => (text === GOAL ? [1] : REFUSED));
    const { near, embeddings, said } = embeddingsOf(await storeOf(requests), embedder);
    embeddings.catchUp();
    await embeddings.idle();
    expect([embedder.requests.length, said]).toMatchObject([1, [{ code: 'BAD_REQUEST' }]]);
    await near();
    await embeddings.idle();
    expect(embedder.requests).toHaveLength(1 + 1 + 4);
  });

  it('gives vectors of another length than before, the examples are embedded anew', async () => {
    let dimensions = 2;
    const direction: Direction = () => Array<number>(dimensions).fill(1);
    const { nearThen, near } = embeddingsOf(await storeOf({ disks: 'x' }), new ScriptedEmbedder(direction));
    expect(await nearThen()).toEqual(['disks']);
    dimensions = 3;
    expect(await near('Another goal')).toEqual([]);
    expect(await nearThen()).toEqual(['disks']);
  });
});

it('does not take turns for ever with a replica that has another model', async () => {
  const store = await storeOf({ disks: 'Report disks' });
  const ours = new ScriptedEmbedder(byFiles, 'ours');
  const one = embeddingsOf(store, ours);
  const other = embeddingsOf(store, new ScriptedEmbedder(byFiles, 'theirs'));
  expect(await one.nearThen()).toEqual(['disks']);
  expect(await other.nearThen()).toEqual(['disks']);
  const asked = ours.requests.length;
  expect(await one.nearThen()).toEqual([]);
  expect(ours.requests).toHaveLength(asked);
});

it('embeds what is there as soon as the store is, which may come after the replica', async () => {
  jest.useFakeTimers();
  const store = await storeOf({ disks: 'Report full disks' });
  const { embeddings, near } = embeddingsOf(store, new ScriptedEmbedder(byFiles));
  store.isAway = true;
  embeddings.catchUp();
  await embeddings.idle();
  store.isAway = false;
  jest.runOnlyPendingTimers();
  jest.useRealTimers();
  await embeddings.idle();
  expect(await near()).toEqual(['disks']);
});

it('leaves the store alone when it is away, and asks for nothing when it stops', async () => {
  const store = await storeOf({ disks: 'Report disks' });
  const embedder = new ScriptedEmbedder(byFiles);
  const { embeddings, near, said, stop } = embeddingsOf(store, embedder);
  store.isAway = true;
  expect(await near()).toEqual([]);
  await embeddings.idle();
  store.isAway = false;
  stop.abort();
  embeddings.catchUp();
  await embeddings.idle();
  expect([said, await near('Another goal'), said]).toEqual([[], [], []]);
  expect(texts(embedder)).toEqual([[GOAL], ['Another goal']]);
});
