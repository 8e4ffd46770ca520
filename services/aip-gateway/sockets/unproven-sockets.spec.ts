import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { UnprovenSockets } from './unproven-sockets.adapter.js';

const WITHIN_MS = 100;

/** A socket of this peer that is connected to nothing. */
function socketOf(remotePort: number): Socket {
  const socket = new Socket();
  Object.defineProperties(socket, { remoteAddress: { value: '192.0.2.1' }, remotePort: { value: remotePort } });
  return socket;
}

const some = (count: number): Socket[] => Array.from({ length: count }, (_, index) => socketOf(index + 1));

describe('UnprovenSockets', () => {
  it('ends each when its time is over, whatever it has said', () => {
    const unproven = new UnprovenSockets({ withinMs: WITHIN_MS, socketsMax: 10 });
    const [first, second] = some(2) as [Socket, Socket];
    unproven.add(first, 0);
    unproven.add(second, 50);
    unproven.sweep(WITHIN_MS - 1);
    expect([first.destroyed, second.destroyed]).toEqual([false, false]);
    unproven.sweep(WITHIN_MS);
    expect([first.destroyed, second.destroyed, unproven.size]).toEqual([true, false, 1]);
  });

  it('leaves those alone that have proven who they are, known by their peer', () => {
    const unproven = new UnprovenSockets({ withinMs: WITHIN_MS, socketsMax: 10 });
    const [proven] = some(1) as [Socket];
    unproven.add(proven, 0);
    // As TLS gives it: another socket of the same peer.
    unproven.proven(socketOf(1));
    unproven.sweep(WITHIN_MS);
    expect(proven.destroyed).toBe(false);
  });

  it('has room for a newcomer: the oldest goes', () => {
    const unproven = new UnprovenSockets({ withinMs: WITHIN_MS, socketsMax: 2 });
    const sockets = some(3);
    for (const socket of sockets) unproven.add(socket, 0);
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
    expect(unproven.size).toBe(2);
  });

  it('forgets those that leave by themselves', async () => {
    const unproven = new UnprovenSockets({ withinMs: WITHIN_MS, socketsMax: 2 });
    const [leaving] = some(1) as [Socket];
    unproven.add(leaving, 0);
    leaving.destroy();
    await new Promise((resolve) => leaving.once('close', resolve));
    expect(unproven.size).toBe(0);
  });
});
