import type { NatsConnection } from '@nats-io/transport-node';
import { query } from '#libs/messaging';
import type { AgentProfile } from '#proto';
import { ok, warn, type Diagnosis } from './finding.js';
import { judgeWalls } from './judge-walls.js';
import { judgeAdminToken, judgePeople, type LetIn } from './judge-people.js';

/** The devices as the registry sees them. */
export async function checkDevices(nc: NatsConnection): Promise<Diagnosis[]> {
  const { devices } = await query(nc, 'registry', 'devices', {});
  const living = devices.filter(({ revoked }) => revoked === null || revoked === undefined);
  const away = living
    .filter(({ status }) => status !== 'connected')
    .map(({ deviceId, status }) => `${deviceId} is ${status}`);
  const held = living
    .filter((device) => device.held !== null)
    .map(({ deviceId }: AgentProfile) => `${deviceId} is held`);
  const connected = `${living.length - away.length} of ${living.length} connected`;
  const walls = judgeWalls(living);
  if (away.length === 0 && held.length === 0) return [ok('devices', connected), ...walls];
  const remedy = 'orrery devices; tasks wait for who is away or held';
  return [warn('devices', `${connected}: ${[...away, ...held].join(', ')}`, remedy), ...walls];
}

interface PeopleChecks {
  /** The keys of people that the bus lets in; undefined when that is decided elsewhere. */
  readonly letIn: readonly LetIn[] | undefined;
  /** How the token of the first start is turned off, where it lets in; undefined where it does not, or that is not seen from here. */
  readonly adminTokenOffBy?: string | undefined;
}

/** The people as the registry has them, the keys of theirs that the bus lets in, and what else lets somebody in. */
export async function checkPeople(nc: NatsConnection, { letIn, adminTokenOffBy }: PeopleChecks): Promise<Diagnosis[]> {
  const { people } = await query(nc, 'registry', 'people', {});
  const findings = judgePeople(people, letIn);
  if (adminTokenOffBy === undefined) return findings;
  const { tokens } = await query(nc, 'registry', 'tokens', {});
  return [...findings, judgeAdminToken(people, tokens, adminTokenOffBy)];
}
