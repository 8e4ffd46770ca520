import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { startNats, type NatsHandle } from '#libs/embedded';
import { CannotStoreError, connectBus, StoreWatch } from '#libs/messaging';
import { moment, mountSmallDisk } from '#libs/testing';
import { Supervised } from '../processes/index.js';
import { mendFullDisk } from './full-disk.runner.js';

const PIECE = Buffer.alloc(200_000, 1);
const TRY_MS = 3_000;

const directory = mkdtempSync(join(tmpdir(), 'orrery-full-disk-'));
const disk = mountSmallDisk(directory, { mib: 32 });
afterAll(() => {
  disk?.unmount();
  rmSync(directory, { recursive: true, force: true });
});

describe('a disk that was full (needs a mount of its own)', () => {
  (disk === undefined ? it.skip : it)(
    'all goes on by itself when there is space again, and what was taken is there',
    async () => {
      const over = new AbortController();
      const said: string[] = [];
      const say = (line: string): void => void said.push(line);
      const start = (before?: NatsHandle): Promise<NatsHandle> => {
        const ports =
          before === undefined ? {} : { port: before.port, monitorPort: Number(new URL(before.monitorUrl).port) };
        return startNats({ storeDir: join(directory, 'nats'), dieWithParent: true, ...ports });
      };
      const kept = await Supervised.start<NatsHandle>(
        { name: 'nats', start, now: () => Date.now(), report: say },
        over.signal,
      );
      const mending = mendFullDisk({ bus: () => kept.current, directory, say, signal: over.signal, everyMs: 50 });
      const nc = await connectBus({ url: kept.current.url, name: 'test', inboxPrefix: '_INBOX_test' });
      const jsm = await jetstreamManager(nc);
      const store = StoreWatch.of(nc);
      store.asks(kept.current.monitorUrl);
      const refused: unknown[] = [];
      await jsm.streams.add({ name: 'FACTS', subjects: ['fact'] });
      const isTaken = async (): Promise<boolean> => {
        try {
          await store.stored(() => jetstream(nc).publish('fact', PIECE, { timeout: TRY_MS }));
          return true;
        } catch (error) {
          refused.push(error);
          return false;
        }
      };
      expect(await isTaken()).toBe(true);
      await disk?.fill();
      while (await isTaken());
      while (!said.some((line) => line.includes('is full'))) await moment();
      // The first one to meet it may have waited in vain: who comes later is told at once.
      expect(await isTaken()).toBe(false);
      expect(refused.at(-1)).toBeInstanceOf(CannotStoreError);
      expect(await store.fault()).toMatchObject({ kind: 'disk-full' });
      await disk?.free();
      while (!(await isTaken())) await moment();
      // Who publishes may be served before it is said.
      while (!said.some((line) => line.startsWith('nats is back'))) await moment();
      const { state } = await jsm.streams.info('FACTS');
      expect(state.messages).toBeGreaterThanOrEqual(2);
      expect(said.map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual(
        expect.arrayContaining(['the disk of', 'nats could not', 'nats ended; starting', 'nats is back']),
      );
      over.abort();
      await mending;
      expect(await store.fault()).toBeUndefined();
      await nc.close();
      await kept.stop();
    },
  );
});
