import type { AccessEntry } from '#proto';
import { type Column } from '../../terminal/index.js';

const KEY_SHOWN_CHARS = 9;

export const ACCESS_COLUMNS: readonly Column<AccessEntry>[] = [
  { title: 'AT', value: ({ at }) => at, time: true },
  { title: 'WHO', value: ({ actor }) => actor?.id ?? '-' },
  { title: 'WHAT', value: ({ what }) => what.toLowerCase().replaceAll('_', ' ') },
  { title: 'OF', value: aboutText },
];

/** Of what it was, and by which login; the most telling first. */
function aboutText({
  subject,
  runId,
  taskId,
  artifact,
  deviceId,
  given,
  taken,
  login,
  key,
  peer,
  times,
  note,
}: AccessEntry): string {
  const changes = [...(given ?? []).map((role) => `+${role}`), ...(taken ?? []).map((role) => `-${role}`)];
  const parts = [
    times === undefined ? undefined : `${times} times`,
    subject,
    runId,
    taskId,
    artifact?.slice(0, KEY_SHOWN_CHARS),
    deviceId === undefined ? undefined : `screen of ${deviceId}`,
    ...changes,
    note,
    runId === undefined ? (login?.subject ?? key?.slice(0, KEY_SHOWN_CHARS)) : undefined,
    runId === undefined ? peer : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(' ') || 'all runs';
}
