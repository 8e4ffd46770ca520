import type { NatsConnection } from '@nats-io/transport-node';
import type { DataSource } from 'typeorm';
import { diskOf, StoreWatch, type Disk, type Room, type StoreFault } from '#libs/messaging';
import type { Postgres } from '#libs/platform';

/** How much room there is, by where, and whether nats-server stores. */
export interface StoreRooms {
  /** Undefined where it is not seen. */
  readonly rooms: Readonly<Record<'nats_disk' | 'nats_streams' | 'postgres_disk', Room | undefined>>;
  /** Whether nats-server stores; undefined where nobody says how it can be asked. */
  readonly bus: { readonly fault: StoreFault | undefined } | undefined;
}

/** Throws when nats-server does not say how its store is. Every replica sees the same. */
export async function storeRooms(
  nc: NatsConnection,
  postgres: Pick<Postgres, 'ready' | 'isReady'>,
): Promise<StoreRooms> {
  const [look, database] = await Promise.all([StoreWatch.of(nc).look(), diskOfPostgres(postgres)]);
  return {
    rooms: { nats_disk: look?.disk, nats_streams: look, postgres_disk: database },
    bus: look && { fault: look.fault },
  };
}

interface Told {
  readonly directory: string;
}

/** Undefined unless the server runs on this machine, and tells our user where. */
async function diskOfPostgres(postgres: Pick<Postgres, 'ready' | 'isReady'>): Promise<Disk | undefined> {
  if (!postgres.isReady()) return undefined;
  try {
    const [told] = await whereOf(await postgres.ready());
    return told && (await diskOf(told.directory));
  } catch {
    return undefined;
  }
}

const whereOf = (source: DataSource): Promise<Told[]> =>
  source.query(`select current_setting('data_directory') as directory
    where inet_server_addr() <<= '127.0.0.0/8' or inet_server_addr() = '::1'`);
