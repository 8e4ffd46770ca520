import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What looks like a NATS server and is none, or is cut off from it. */
export interface MuteBus {
  readonly url: string;
  stop(): Promise<void>;
}

/** The first thing that a client wants of a server, beside being let in. */
const WANTS = /^(?:SUB|PUB|HPUB) /mu;

/** Takes every connection and says no more than this, ever. `taken` is told, for each. */
export function startSilent(says = '', taken: () => void = () => {}): Promise<MuteBus> {
  return listening((socket) => {
    if (says !== '') socket.write(says);
    taken();
  });
}

/** What a real server begins with. */
export const GREETING = `INFO ${JSON.stringify({ server_id: 'mute', version: '2.12.0', proto: 1, max_payload: 1_048_576, headers: true, jetstream: true })}\r\n`;

/**
 * In front of a real server: each connection is made, and goes dead both ways with the first thing that its client wants. `wanted` is
 * told, for each.
 */
export function startCutOff(port: number, wanted: () => void = () => {}): Promise<MuteBus> {
  return listening((client) => {
    const server = connect(port, '127.0.0.1');
    let isCut = false;
    server.on('error', () => undefined);
    server.on('data', (data) => void (isCut || client.write(data)));
    client.on('close', () => server.destroy());
    client.on('data', (data) => {
      if (isCut) return;
      isCut = WANTS.test(data.toString('latin1'));
      if (isCut) wanted();
      else server.write(data);
    });
  });
}

async function listening(take: (socket: Socket) => void): Promise<MuteBus> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.resume();
    take(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
