import { createServer } from 'node:net';
import { isPortFree } from '#libs/embedded';

/**
 * Ports that no system hands out by itself, neither to who listens anywhere nor to who dials: what is stopped and comes back at its port finds
 * it free. Each process begins at another one.
 */
const FROM = 10_240;
const COUNT = 20_000;
/** As many processes that begin one after the other are this far from each other. */
const STEP = 37;

let next = process.pid * STEP;

/** A port of 127.0.0.1 that nobody listens on, and that nobody is given who asks for any. */
export async function ownPort(): Promise<number> {
  for (;;) {
    const port = FROM + (next++ % COUNT);
    if ((await claim(port)) && (await isPortFree(port))) return port;
  }
}

/**
 * Taken by name until this process ends, however it ends: while a server is stopped its port is free, and other processes of the tests
 * look for one, too. False when somebody has it.
 */
function claim(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const claimed = createServer().unref();
  claimed.once('error', () => resolve(false));
  claimed.listen(`\0orrery-test-port-${port}`, () => resolve(true));
  return promise;
}
