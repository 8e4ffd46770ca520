import { EntitySchema } from 'typeorm';
import type { AgentProfile } from '#proto';

/** One row per device. `profile` is what AGENT_PROFILES holds; the other columns are for queries over it. */
interface DeviceRow {
  deviceId: string;
  status: string;
  revision: number;
  profile: AgentProfile;
  updatedAt: string;
}

export const DeviceEntity = new EntitySchema<DeviceRow>({
  name: 'device',
  tableName: 'device',
  columns: {
    deviceId: { name: 'device_id', type: 'text', primary: true },
    status: { type: 'text' },
    revision: { type: 'int' },
    profile: { type: 'jsonb' },
    updatedAt: { name: 'updated_at', type: 'timestamptz' },
  },
});
