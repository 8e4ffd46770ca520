import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { FeedMessage, type RunCommit } from '#proto';
import { systemClock, type Postgres } from '#libs/platform';
import { generateHistory, runCommitsOf, type HistoryStep } from '#libs/testing';
import { CheckpointEntity } from '../entities/index.js';
import { feedEntriesOf, positionText, type FeedEntry } from './feed-message.js';
import { FeedPublisher } from './feed.reactor.js';
import { FeedStream, type Published } from './feed-stream.adapter.js';
import { AWAY, logger, Rig } from '../rig.testing.js';

let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.stop());

const HISTORIES = [51, 52, 53].map((seed) => generateHistory({ seed, tasks: 5 }));
const COMMITS: RunCommit[] = HISTORIES.flatMap(runCommitsOf);
/** What FEED has to hold when the histories were appended one after the other. */
const EXPECTED = COMMITS.flatMap((commit, index) => feedEntriesOf(commit, index + 1).map(({ message }) => message));

function publisher(feed: FeedStream = new FeedStream(rig.nc), postgres: Postgres = rig.postgres): FeedPublisher {
  return new FeedPublisher({ nc: rig.nc, feed, postgres, clock: systemClock, logger, onPublished: () => {} });
}

async function appendAll(histories: readonly (readonly HistoryStep[])[] = HISTORIES): Promise<void> {
  for (const steps of histories) await rig.appendAll(steps);
}

describe('FEED', () => {
  it('holds every event of every run in order, as CloudEvents', async () => {
    const feeding = publisher(new FeedStream(rig.nc), AWAY);
    void feeding.begin();
    await appendAll();
    const messages = await rig.read('FEED', EXPECTED.length);
    await feeding.end();
    expect(messages).toEqual(EXPECTED);
    expect(messages.map((message) => FeedMessage.safeParse(message).error)).toEqual(messages.map(() => undefined));
    expect(await rig.lastSequence('FEED')).toBe(EXPECTED.length);
  });

  it.each([
    ['before the publish', 0, false],
    ['after one event', 1, false],
    ['after one event whose ack was lost', 1, true],
    ['after some events whose acks were lost', 5, true],
  ] as const)(
    'loses, doubles and reorders nothing when the process dies at every publish: %s',
    async (_, count, lost) => {
      await appendAll();
      const lives = count === 0 ? 3 : Math.floor((EXPECTED.length - 1) / count);
      for (let life = 0; life < lives; life++) {
        const feed = new DyingFeed(count, lost);
        const feeding = publisher(feed);
        void feeding.begin();
        await feed.died;
        await feeding.end();
      }
      const survivor = publisher();
      void survivor.begin();
      expect(await rig.read('FEED', EXPECTED.length)).toEqual(EXPECTED);
      await survivor.end();
      expect(await rig.lastSequence('FEED')).toBe(EXPECTED.length);
    },
  );

  it('holds every event once when two replicas publish', async () => {
    const feeding = [publisher(), publisher()];
    for (const one of feeding) void one.begin();
    await appendAll();
    expect(await rig.read('FEED', EXPECTED.length)).toEqual(EXPECTED);
    await Promise.all(feeding.map((one) => one.end()));
    expect(await rig.lastSequence('FEED')).toBe(EXPECTED.length);
  });

  it('tells its last sequence and its last event as one, while somebody publishes', async () => {
    await appendAll();
    const feeding = publisher();
    void feeding.begin();
    const feed = new FeedStream(rig.nc);
    for (let sequence = 0; sequence < EXPECTED.length;) {
      const end = await feed.end();
      ({ sequence } = end);
      const source = end.position === undefined ? undefined : positionText(end.position);
      expect(source).toBe(EXPECTED[sequence - 1]?.orrerysource);
    }
    await feeding.end();
  });

  it('takes one event at a time while it is empty, because replicas may believe in different positions', async () => {
    const sizes: number[] = [];
    const feed = new (class extends FeedStream {
      override publish(entries: readonly FeedEntry[], end: number): Promise<Published> {
        sizes.push(entries.length);
        return super.publish(entries, end);
      }
    })(rig.nc);
    await appendAll(HISTORIES.slice(0, 1));
    const feeding = publisher(feed);
    void feeding.begin();
    const expected = runCommitsOf(HISTORIES[0] ?? []).flatMap(({ events }) => events);
    await rig.read('FEED', expected.length);
    await feeding.end();
    expect(sizes[0]).toBe(1);
    expect(sizes.length).toBeLessThan(expected.length);
  });

  it('takes nothing from a replica that believes it to end somewhere else', async () => {
    const feed = new FeedStream(rig.nc);
    const [first = [], second = []] = COMMITS.map((commit, index) => feedEntriesOf(commit, index + 1));
    expect(await feed.publish(first, 0)).toEqual({ stored: first.length });
    expect(await feed.publish(second.slice(0, 1), 0)).toEqual({ stored: 0, problem: 'conflict' });
    expect(await feed.publish(second, first.length + 1)).toEqual({ stored: 0, problem: 'conflict' });
    expect(await feed.end()).toEqual({ sequence: first.length, position: first.at(-1)?.position });
  });

  it('goes on from the stored position when everything in it has expired', async () => {
    const feeding = publisher();
    void feeding.begin();
    await appendAll(HISTORIES.slice(0, 1));
    const published = runCommitsOf(HISTORIES[0] ?? []).flatMap(({ events }) => events).length;
    await rig.read('FEED', published);
    await feeding.end();
    // The last position that was stored may be a little older; here it is the last one.
    const position = { name: 'FEED', sequence: runCommitsOf(HISTORIES[0] ?? []).length, index: 1_000 };
    await rig.source.getRepository(CheckpointEntity).save(position);
    await (await jetstreamManager(rig.nc)).streams.purge('FEED');
    const next = publisher();
    void next.begin();
    await appendAll(HISTORIES.slice(1));
    expect(await rig.read('FEED', EXPECTED.length - published)).toEqual(EXPECTED.slice(published));
    await next.end();
  });

  it('begins with what FEED would still hold when nobody knows a position', async () => {
    await appendAll();
    const inTwoMonths = { now: () => Date.now() + 60 * 24 * 60 * 60 * 1_000 };
    const feed = new FeedStream(rig.nc);
    expect(await feed.beforeYoungest(inTwoMonths.now())).toMatchObject({ sequence: COMMITS.length });
    expect(await feed.beforeYoungest(Date.now())).toMatchObject({ sequence: 0 });
  });

  it('passes over what is no commit', async () => {
    await rig.publishRaw('broken', 'no commit');
    const feeding = publisher();
    void feeding.begin();
    await appendAll(HISTORIES.slice(0, 1));
    const expected = runCommitsOf(HISTORIES[0] ?? []).flatMap((commit, index) => feedEntriesOf(commit, index + 2));
    expect(await rig.read('FEED', expected.length)).toEqual(expected.map(({ message }) => message));
    await feeding.end();
  });
});

/** Stores the first `count` entries of what it is given, then the process is gone; the next one has nothing but the streams. */
class DyingFeed extends FeedStream {
  readonly died: Promise<void>;
  readonly #die: () => void;

  readonly #count: number;
  readonly #acksLost: boolean;

  constructor(count: number, acksLost: boolean) {
    super(rig.nc);
    this.#count = count;
    this.#acksLost = acksLost;

    const { promise, resolve } = Promise.withResolvers<void>();
    this.died = promise;
    this.#die = resolve;
  }

  override async publish(entries: readonly FeedEntry[], end: number): Promise<Published> {
    const published = await super.publish(entries.slice(0, this.#count), end);
    this.#die();
    if (this.#acksLost || published.stored === 0) throw new Error('killed');
    return { ...published, problem: 'conflict' };
  }
}
