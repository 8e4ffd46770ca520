import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';

/** Another client works with this data directory: two of them would run one command twice. */
export class DataDirInUse extends Error {}

/** What this process holds. */
const held = new Set<string>();

/**
 * Takes the data directory for this process. The lock is a name in the kernel (an abstract socket), not a file: it is gone
 * with the process, however that ends, and never stale. Other systems than Linux have no such names and go without.
 */
export async function lockDataDir(dataDir: string): Promise<void> {
  if (process.platform !== 'linux') return;
  const name = createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex');
  if (held.has(name)) return;
  const server: Server = createServer((socket) => socket.destroy());
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (cause) => reject(new DataDirInUse(`another device client uses ${dataDir}`, { cause })));
  server.listen(`\0orrery-device-${name}`, resolve);
  // It holds the name, it does not keep the process alive.
  server.unref();
  await promise;
  held.add(name);
}
