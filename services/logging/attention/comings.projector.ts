import { In, type EntityManager } from 'typeorm';
import { FleetCommit, deviceIdOfSubject, parseJson, parseWith, sentenceOf, type DeviceId } from '#proto';
import { attentionOfComings, evolveComings, NO_COMINGS, type Comings } from '#libs/attention';
import type { StreamEntry } from '#libs/event-log';
import { AttentionEntity, attentionRow, ComingsEntity } from '../entities/index.js';
import { RowsProjection, upsertRows, type BurialParts } from '../projection/index.js';

/** FLEET -> table comings, and an entry of the inbox for each device that comes and goes. */
export function comingsProjection(options: BurialParts): RowsProjection<FleetCommit> {
  return new RowsProjection<FleetCommit>(
    {
      stream: 'FLEET',
      parse,
      write: (manager, read) =>
        write(
          manager,
          read.map(({ commit }) => commit),
        ),
    },
    options,
  );
}

async function write(manager: EntityManager, commits: readonly FleetCommit[]): Promise<void> {
  const came = commits.filter(({ events }) => events.some(({ type }) => type === 'DEVICE_CONNECTED'));
  if (came.length === 0) return;
  const ids = [...new Set(came.map(({ deviceId }) => deviceId))].toSorted();
  const known = await manager.findBy(ComingsEntity, { deviceId: In(ids) });
  const comings = new Map<DeviceId, Comings>(known.map(({ deviceId, ...state }) => [deviceId, state]));
  for (const commit of came) {
    comings.set(commit.deviceId, evolveComings(comings.get(commit.deviceId) ?? NO_COMINGS, commit));
  }
  const changed = [...comings].toSorted(([one], [other]) => (one < other ? -1 : 1));
  await upsertRows(
    manager,
    ComingsEntity,
    changed.map(([deviceId, state]) => ({ deviceId, ...state })),
  );
  await manager.delete(AttentionEntity, { kind: 'flapping', deviceId: In(ids) });
  const entries = changed.flatMap(([deviceId, state]) => attentionOfComings(deviceId, state));
  await upsertRows(
    manager,
    AttentionEntity,
    entries.map((entry) => attentionRow(entry)),
  );
}

function parse(entry: StreamEntry): FleetCommit | string {
  const parsed = parseWith(FleetCommit, parseJson(entry.data));
  if (!parsed.ok) return parsed.issues.map(sentenceOf).join('; ');
  const { deviceId } = parsed.value;
  return deviceIdOfSubject(entry.subject) === deviceId ? parsed.value : `it says that it belongs to ${deviceId}`;
}
