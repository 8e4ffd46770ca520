import { createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** A port that was free a moment ago. Whoever binds it must be ready to lose the race and ask again. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ host: LOOPBACK, port: 0 }, () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

/** Tells a lost race for a port from any other early exit: by trying, because exit codes and log texts do not say. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host: LOOPBACK, port }, () => probe.close(() => resolve(true)));
  });
}
