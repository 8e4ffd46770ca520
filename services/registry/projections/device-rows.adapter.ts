import type { DeviceId } from '#proto';
import type { Postgres } from '#libs/platform';
import { DeviceEntity } from './device.entity.js';
import type { Newest, ProfileStore } from './profile-store.js';

/** The statement compares the revisions, so replicas and repetitions need no transaction around it. */
const UPSERT = `
  insert into registry.device as stored (device_id, status, revision, profile, updated_at)
  values ($1, $2, $3, $4, $5)
  on conflict (device_id) do update
    set status = excluded.status, revision = excluded.revision, profile = excluded.profile, updated_at = excluded.updated_at
    where stored.revision <= excluded.revision`;

/** Table registry.device. Waits for Postgres as long as it takes: the log is the truth, rows catch up. */
export class DeviceRows implements ProfileStore {
  readonly name = 'registry.device';
  readonly #postgres: Postgres;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  async write(deviceId: DeviceId, newest: Newest): Promise<void> {
    const profile = await newest();
    const { status, revision, changedAt } = profile;
    const values = [deviceId, status, revision, JSON.stringify(profile), changedAt];
    await (await this.#postgres.ready()).query(UPSERT, values);
  }

  async remove(deviceId: DeviceId): Promise<void> {
    await (await this.#postgres.ready()).getRepository(DeviceEntity).delete({ deviceId });
  }

  async list(): Promise<DeviceId[]> {
    const rows = await (await this.#postgres.ready()).getRepository(DeviceEntity).find({ select: { deviceId: true } });
    return rows.map(({ deviceId }) => deviceId);
  }
}
