import type { Room } from '#libs/messaging';
import { LIMITS } from '#proto';
import type { Home } from './home.js';

/** Somewhere where what happens is stored, and how full it is. */
export interface Store extends Room {
  readonly name: string;
  readonly state: 'ok' | 'warn' | 'bad';
}

/** All of them that can be seen from here. */
export interface StoresLook {
  readonly stores: readonly Store[];
  /** Why nothing new is taken, in a clause. */
  readonly fault?: string;
  /** What somebody else has to look at. */
  readonly unseen: readonly string[];
}

const BYTES_PER_MIB = 1024 ** 2;
const BYTES_PER_GIB = 1024 ** 3;
const BAD_FROM = 0.95;
const NATS_DISK = 'the disk of nats-server';
const POSTGRES_DISK = 'the disk of PostgreSQL';
const STREAMS = 'what nats-server may store';

/** How full the stores are. `home`: undefined where the servers are not ours. `monitorUrl`: of nats-server, where anybody knows it. */
export async function lookAtStores(home: Home | undefined, monitorUrl: string | undefined): Promise<StoresLook> {
  // Loaded only here: most commands look at no store.
  const { diskOf, lookAtStore } = await import('#libs/messaging');
  const look = monitorUrl === undefined ? undefined : await lookAtStore(monitorUrl).catch(() => undefined);
  const bus = look?.disk ?? (home && (await diskOf(home.nats)));
  const database = home && (await diskOf(home.postgres));
  const isOne = bus?.device === database?.device;
  const rooms: [string, Room | undefined][] = [
    [isOne && home ? 'the disk of nats-server and PostgreSQL' : NATS_DISK, bus],
    ...(isOne ? [] : ([[POSTGRES_DISK, database]] satisfies [string, Room | undefined][])),
    [STREAMS, look],
  ];
  return {
    stores: rooms.flatMap(([name, room]) => (room === undefined ? [] : [storeOf(name, room)])),
    ...(look?.fault && { fault: look.fault.why }),
    unseen: rooms.flatMap(([name, room]) => (room === undefined ? [name] : [])),
  };
}

/** `the disk of nats-server: 334 MiB of 400 MiB are used (83 %)`. */
export function storeText({ name, usedBytes, limitBytes }: Store): string {
  const share = limitBytes > 0 ? ` (${Math.floor((100 * usedBytes) / limitBytes)} %)` : '';
  return `${name}: ${sizeText(usedBytes)} of ${sizeText(limitBytes)} are used${share}`;
}

const sizeText = (bytes: number): string =>
  bytes < 10 * BYTES_PER_GIB ? `${Math.round(bytes / BYTES_PER_MIB)} MiB` : `${Math.round(bytes / BYTES_PER_GIB)} GiB`;

/** With its grade. */
export function storeOf(name: string, { usedBytes, limitBytes }: Room): Store {
  const share = limitBytes > 0 ? usedBytes / limitBytes : 0;
  return {
    name,
    usedBytes,
    limitBytes,
    state: share >= BAD_FROM ? 'bad' : share >= LIMITS.storeTightFrom ? 'warn' : 'ok',
  };
}
