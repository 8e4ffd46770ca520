import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { startNats, type NatsHandle, type NatsUser } from '#libs/embedded';
import { connectBus, provision } from '#libs/messaging';
import { ownPort } from './own-port.js';
import { processFolder } from './process-folder.js';

const TRIES_MAX = 3;
const STREAMS_PREFIX = 'orrery-test-streams-';
/** The account of a server that is open. */
const EVERYBODY = '$G';
const streamsIn = (storeDir: string, account: string): string => join(storeDir, 'jetstream', account);

export interface TestNatsOptions {
  /** Absent: open to everybody, the usual thing in a test. */
  readonly users?: readonly NatsUser[];
  /** It has every stream, bucket and durable from the start, all of them empty. */
  readonly provisioned?: boolean;
  /** How much it stores at most, as in its configuration; plenty when absent. */
  readonly maxFileStore?: string;
}

export interface TestNats {
  readonly url: string;
  readonly port: number;
  /** The server's HTTP monitoring, `http://127.0.0.1:<port>`. */
  readonly monitorUrl: string;
  /** Same port, same streams: after an orderly stop, or after `kill9`. */
  restart(): Promise<void>;
  /** Resolves when the process is gone; what was acknowledged is on the disk. */
  kill9(): Promise<void>;
  /** Ends the server and removes its streams. */
  stop(): Promise<void>;
}

/** A server of its own, with an empty store, for one test or one file: streams are never deleted and made again under the same name. */
export async function startTestNats({ provisioned = false, ...options }: TestNatsOptions = {}): Promise<TestNats> {
  const storeDir = await mkdtemp(join(tmpdir(), 'orrery-test-nats-'));
  const ports = { port: await ownPort(), monitorPort: await ownPort() };
  const start = (): Promise<NatsHandle> => startNats({ storeDir, dieWithParent: true, ...ports, ...options });
  if (provisioned) {
    const account = options.users === undefined ? EVERYBODY : 'ORRERY';
    writeStore(streamsIn(storeDir, account), await (provisionedStore ??= makeProvisionedStore()));
  }
  let server = await start();
  const kill9 = async (): Promise<void> => {
    server.kill();
    await server.exited;
  };
  return {
    url: server.url,
    port: ports.port,
    monitorUrl: server.monitorUrl,
    restart: async () => {
      await server.stop();
      server = await start();
    },
    kill9,
    stop: async () => {
      server.kill(); // asked to end, it would take a second to put in order what is removed here
      await server.stop();
      rmSync(storeDir, { recursive: true, force: true });
    },
  };
}

/** What lies in a store, by its path in it: folders without content, and four hundred files, together less than a megabyte. */
type Store = ReadonlyMap<string, Buffer | undefined>;

/** Made once for all files of this process: a server is up with a copy of it in a tenth of the time that making the streams takes. */
let provisionedStore: Promise<Store> | undefined;

async function makeProvisionedStore(): Promise<Store> {
  const storeDir = await mkdtemp(join(await processFolder(STREAMS_PREFIX), 'store-'));
  const server = await startNats({ storeDir, dieWithParent: true });
  const nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test', waitForServer: true });
  await provisioned(nc);
  await nc.close();
  await server.stop();
  return readStore(streamsIn(storeDir, EVERYBODY));
}

// At once: file by file, each waited for, it takes fifteen times the processor time.

function readStore(folder: string): Store {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return [relative(folder, path), entry.isFile() ? readFileSync(path) : undefined] as const;
  });
  return new Map(entries.toSorted(([one], [other]) => one.length - other.length)); // a folder before what lies in it
}

function writeStore(folder: string, store: Store): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [path, content] of store) {
    if (content === undefined) mkdirSync(join(folder, path), { mode: 0o700 });
    else writeFileSync(join(folder, path), content, { mode: 0o600 });
  }
}

/** What a busy machine has not answered in time is asked for again: all files of this process stand on it. */
async function provisioned(nc: NatsConnection): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await provision(nc);
      return;
    } catch (error) {
      if (tries === TRIES_MAX) throw error;
    }
  }
}
