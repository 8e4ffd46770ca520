import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { startTestNats, type TestNats } from '#libs/testing';
import { z } from 'zod';
import { keysOfBucket, liveSubjectOf } from '#proto';
import { connectBus } from '../connection/index.js';
import { entryValue, followBucket, readBucket, type Following } from './follow-bucket.adapter.js';

/* What everybody may rely on who follows a bucket. */

let server: TestNats;
let writer: NatsConnection;
let reader: NatsConnection;
let bucket: KV;
let stop: AbortController;
let followed: Following | undefined;
let count = 0;

const connect = (name: string): Promise<NatsConnection> =>
  connectBus({ url: server.url, name, inboxPrefix: `_INBOX_${name}` });

beforeAll(async () => {
  server = await startTestNats();
});
// A connection that has seen the server go may lose what it is asked next: each test has its own.
beforeEach(async () => {
  [reader, writer] = [await connect('reader'), await connect('writer')];
  bucket = await made(`followed-${++count}`);
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await followed?.over;
  followed = undefined;
  await Promise.all([reader.close(), writer.close()]);
});
afterAll(() => server.stop());

/** A bucket that is told of, as those are that are provisioned. */
async function made(name: string): Promise<KV> {
  const kv = await new Kvm(writer).create(name);
  const republish = { src: keysOfBucket(name), dest: liveSubjectOf(keysOfBucket(name)) };
  await (await jetstreamManager(writer)).streams.update(`KV_${name}`, { republish });
  return kv;
}

/** What is told, as `key=value`, `key gone`, `complete` and `look`. */
class Told {
  readonly said: string[] = [];
  readonly reported: unknown[] = [];
  #news = Promise.withResolvers<void>();

  follow(name = `followed-${count}`): Following {
    followed = followBucket(reader, {
      bucket: name,
      look: () => {
        this.#say('look');
        return {
          take: (entry) =>
            this.#say(`${entry.key}${entry.operation === 'PUT' ? `=${Buffer.from(entry.value).toString()}` : ' gone'}`),
          complete: () => this.#say('complete'),
        };
      },
      report: (error) => {
        this.reported.push(error);
        this.#tell();
      },
      signal: stop.signal,
    });
    return followed;
  }

  /** Resolves when this holds of what was told. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.#news.promise;
  }

  async hears(what: string, times = 1): Promise<void> {
    await this.until(() => this.said.filter((one) => one === what).length >= times);
  }

  #say(what: string): void {
    this.said.push(what);
    this.#tell();
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}

describe('a bucket that is followed', () => {
  it('is told whole, then that this was all, then what changes', async () => {
    await bucket.put('a', '1');
    await bucket.put('b', '1');
    await bucket.put('a', '2');
    const told = new Told();
    const { loaded, isCurrent } = told.follow();
    expect(isCurrent()).toBe(false);
    await loaded;
    expect(told.said).toEqual(['look', 'b=1', 'a=2', 'complete']);
    expect(isCurrent()).toBe(true);
    await bucket.put('c', '1');
    await bucket.delete('b');
    await told.hears('b gone');
    expect(told.said.slice(4).filter((one) => one !== 'complete')).toEqual(['c=1', 'b gone']);
  });

  it('is all there when it is empty', async () => {
    const told = new Told();
    await told.follow().loaded;
    expect(told.said).toEqual(['look', 'complete']);
  });

  it('is told once of a key that was written often, and of one that is gone', async () => {
    await (await jetstreamManager(writer)).streams.update(`KV_followed-${count}`, { max_msgs_per_subject: 5 });
    for (const value of ['1', '2', '3']) await bucket.put('a', value);
    await bucket.put('b', '1');
    await bucket.delete('b');
    const told = new Told();
    await told.follow().loaded;
    expect(told.said).toEqual(['look', 'a=3', 'b gone', 'complete']);
    expect((await readBucket(reader, `followed-${count}`)).map(({ key }) => key)).toEqual(['a']);
  });

  it('is told of a key that expires', async () => {
    const jsm = await jetstreamManager(writer);
    const expiring = {
      max_age: 1_000_000_000,
      duplicate_window: 1_000_000_000,
      subject_delete_marker_ttl: 1_000_000_000,
    };
    await jsm.streams.update(`KV_followed-${count}`, { ...expiring, allow_msg_ttl: true });
    const told = new Told();
    await told.follow().loaded;
    await bucket.put('a', '1');
    await told.hears('a gone');
    expect(told.said.filter((one) => one.startsWith('a'))).toEqual(['a=1', 'a gone']);
  });

  it('makes no consumer', async () => {
    await new Told().follow().loaded;
    const { state } = await (await jetstreamManager(writer)).streams.info(`KV_followed-${count}`);
    expect(state.consumer_count).toBe(0);
  });

  it('is waited for when there is none yet: the first look fails, and a later one tells everything', async () => {
    const told = new Told();
    const { loaded } = told.follow('later');
    await expect(loaded).rejects.toThrow();
    await told.until(() => told.reported.length > 0);
    await (await made('later')).put('a', '1');
    await told.hears('a=1');
  });

  it.each([
    ['a restart', () => server.restart()],
    [
      'a kill -9',
      async () => {
        await server.kill9();
        await server.restart();
      },
    ],
  ])('is looked at anew, whole, after %s of the server', async (_, restart) => {
    await bucket.put('a', '1');
    const told = new Told();
    const { loaded, isCurrent } = told.follow();
    await loaded;
    await restart();
    const again = await connect('again');
    await (await new Kvm(again).open(`followed-${count}`)).put('a', '2');
    await told.hears('a=2');
    await told.hears('look', 2);
    await again.close();
    await told.until(isCurrent);
    expect(told.said.slice(0, 4)).toEqual(['look', 'a=1', 'complete', 'look']);
  });

  it('ends with its signal, also before it was read', async () => {
    const told = new Told();
    stop.abort();
    const { loaded, over } = told.follow();
    await expect(loaded).rejects.toThrow('ended before everything was read');
    await over;
    expect(told.said).toEqual([]);
  });

  it('ends with its connection', async () => {
    const told = new Told();
    const { loaded, over, isCurrent } = told.follow();
    await loaded;
    await reader.close();
    await over;
    expect(isCurrent()).toBe(false);
  });
});

describe('the value of an entry', () => {
  it.each<['PUT' | 'DEL' | 'PURGE', string, object | undefined]>([
    ['PUT', '{"n":1}', { n: 1 }],
    ['PUT', '{"n":"1"}', undefined],
    ['PUT', '{', undefined],
    ['DEL', '{"n":1}', undefined],
    ['PURGE', '{"n":1}', undefined],
  ])('of %s %s is %j', (operation, text, value) => {
    expect(entryValue({ operation, value: Buffer.from(text) }, z.object({ n: z.number() }))).toEqual(value);
  });
});
