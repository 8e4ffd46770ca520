import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { startTestNats, type TestNats } from '#libs/testing';
import { z } from 'zod';
import { connectBus } from '../connection/index.js';
import { entryValue, followBucket, type Following } from './follow-bucket.adapter.js';

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
  bucket = await new Kvm(writer).create(`followed-${++count}`);
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await followed?.over;
  followed = undefined;
  await Promise.all([reader.close(), writer.close()]);
});
afterAll(() => server.stop());

/** What is told, as `key=value`, `key gone`, `complete` and `look`. */
class Told {
  readonly said: string[] = [];
  readonly reported: unknown[] = [];
  #news = Promise.withResolvers<void>();

  follow(name = `followed-${count}`, headersOnly = false): Following {
    followed = followBucket(reader, {
      bucket: name,
      headersOnly,
      look: () => {
        this.#say('look');
        return {
          take: (entry) => this.#say(`${entry.key}${entry.operation === 'PUT' ? `=${entry.string()}` : ' gone'}`),
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

  it('is told without values where nobody wants them', async () => {
    await bucket.put('a', '1');
    const told = new Told();
    await told.follow(undefined, true).loaded;
    expect(told.said).toEqual(['look', 'a=', 'complete']);
  });

  it('is waited for when there is none yet: the first look fails, and a later one tells everything', async () => {
    const told = new Told();
    const { loaded } = told.follow('later');
    await expect(loaded).rejects.toThrow();
    await told.until(() => told.reported.length > 0);
    await (await new Kvm(writer).create('later')).put('a', '1');
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
