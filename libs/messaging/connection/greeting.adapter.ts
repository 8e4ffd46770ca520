import { connect } from 'node:net';

/** How far a connection to an address comes: none is made, one is made and nothing is said, the server says who it is. */
export type Greeting = 'unreachable' | 'silent' | 'greets';

const PROBE_MS = 1_000;
const PORT = 4222;

/** Looks once, without saying anything: a NATS server speaks first. Never throws. */
export function greetingOf(url: string, waitMs = PROBE_MS): Promise<Greeting> {
  const { hostname = '', port = '' } = URL.parse(url.includes('://') ? url : `nats://${url}`) ?? {};
  const { promise, resolve } = Promise.withResolvers<Greeting>();
  let found: Greeting = 'unreachable';
  const end = (): void => {
    clearTimeout(timer);
    socket.destroy();
    resolve(found);
  };
  const socket = connect({ host: hostname, port: port === '' ? PORT : Number(port) });
  const timer = setTimeout(end, waitMs);
  socket.once('connect', () => (found = 'silent'));
  socket.once('data', () => {
    found = 'greets';
    end();
  });
  socket.once('error', end);
  socket.once('end', end);
  return promise;
}
