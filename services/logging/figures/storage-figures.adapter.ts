import type { NatsConnection } from '@nats-io/transport-node';
import type { Metrics, Postgres } from '#libs/platform';
import { storeRooms } from '../stores/index.js';

export interface StorageFiguresParts {
  readonly nc: NatsConnection;
  readonly postgres: Postgres;
  readonly metrics: Metrics;
}

/** How full the disks are, and what nats-server may store, as far as it is seen from here. Every replica tells the same. */
export function storageFigures({ nc, postgres, metrics }: StorageFiguresParts): void {
  const used = metrics.gauge('storage_used_bytes', 'Bytes that are used, by where: what is not seen has no value', [
    'store',
  ]);
  const limit = metrics.gauge('storage_limit_bytes', 'Bytes that there is room for, used ones included', ['store']);
  const writable = metrics.gauge('storage_writable', '1 while nats-server can store, 0 while it cannot');
  metrics.look('storage', [used, limit, writable], async () => {
    const { rooms, bus } = await storeRooms(nc, postgres);
    for (const [store, room] of Object.entries(rooms)) {
      if (room === undefined) continue;
      used.set({ store }, room.usedBytes);
      limit.set({ store }, room.limitBytes);
    }
    if (bus !== undefined) writable.set(bus.fault === undefined ? 1 : 0);
  });
}
