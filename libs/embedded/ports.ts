import { createServer, type Server } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** A port that was free a moment ago. The caller that binds it must be ready to lose the race and ask again. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** As many different ones: all are held until the last is found, or the same one could be found twice. */
export async function freePorts(count: number): Promise<number[]> {
  const probes = await Promise.all(Array.from({ length: count }, listenAnywhere));
  const ports = probes.map((probe) => {
    const address = probe.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))));
  return ports;
}

function listenAnywhere(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ host: LOOPBACK, port: 0 }, () => resolve(probe));
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
