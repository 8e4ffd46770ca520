import { connect } from 'node:net';

/** Whether it would encrypt: a server of PostgreSQL answers that before anybody is let in. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const POSTGRES_PORT = 5432;

/** Whether a NATS server is there and speaks. Never throws. */
export async function natsAnswers(url: string, waitMs: number): Promise<boolean> {
  // Loaded only here: where nothing runs, nobody is asked.
  const { greetingOf } = await import('#libs/messaging');
  return (await greetingOf(url, waitMs)) === 'greets';
}

/** Whether a server of PostgreSQL is there and speaks. Never throws. */
export function postgresAnswers(url: string, waitMs: number): Promise<boolean> {
  const { hostname = '', port = '' } = URL.parse(url) ?? {};
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: hostname, port: port === '' ? POSTGRES_PORT : Number(port) });
  const end = (answers: boolean): void => {
    clearTimeout(timer);
    socket.destroy();
    resolve(answers);
  };
  const timer = setTimeout(() => end(false), waitMs);
  socket.once('connect', () => socket.write(SSL_REQUEST));
  socket.once('data', () => end(true));
  socket.once('error', () => end(false));
  socket.once('end', () => end(false));
  return promise;
}
