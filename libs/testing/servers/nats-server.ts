import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNats, type NatsHandle, type NatsUser } from '#libs/embedded';

export interface TestNatsOptions {
  /** Absent: open to everybody, the usual thing in a test. */
  readonly users?: readonly NatsUser[];
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
export async function startTestNats(options: TestNatsOptions = {}): Promise<TestNats> {
  const storeDir = await mkdtemp(join(tmpdir(), 'orrery-test-nats-'));
  const start = (ports?: { port: number; monitorPort: number }): Promise<NatsHandle> =>
    startNats({ storeDir, dieWithParent: true, ...ports, ...options });
  let server = await start();
  const ports = { port: server.port, monitorPort: Number(new URL(server.monitorUrl).port) };
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
      server = await start(ports);
    },
    kill9,
    stop: async () => {
      await server.stop();
      await rm(storeDir, { recursive: true, force: true });
    },
  };
}
