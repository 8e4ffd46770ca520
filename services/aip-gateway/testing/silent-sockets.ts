// Opens so many sockets to a port of this machine and says nothing on any of them. Run by node as it is, in a process of its
// own: both ends in one would be twice the files. Prints `opened <n>` when it has tried them all, and stays.
import { connect } from 'node:net';

const [port = 0, count = 0] = process.argv.slice(2).map(Number);
const AT_ONCE = 200;
let [started, opened] = [0, 0];

async function open(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('connect', () => {
    opened++;
    resolve();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => resolve());
  return promise;
}

async function opener(): Promise<void> {
  while (started++ < count) await open();
}

await Promise.all(Array.from({ length: AT_ONCE }, opener));
process.stdout.write(`opened ${opened}\n`);
process.stdin.resume();
