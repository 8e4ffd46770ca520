import type { AccessEntry } from '#proto';
import type { Column } from '../../terminal/index.js';

const KEY_SHOWN_CHARS = 9;

/** 80 columns: 11 of a time, 13 of a name, 16 of a kind, the rest of what it was about. */
export const ACCESS_COLUMNS: readonly Column<AccessEntry>[] = [
  { title: 'AT (UTC)', value: ({ at }) => at.slice(5, 16).replace('T', ' ') },
  { title: 'WHO', value: ({ actor }) => cut(actor?.id ?? '-', 13) },
  { title: 'WHAT', value: ({ what }) => cut(what.toLowerCase().replaceAll('_', ' '), 16) },
  { title: 'OF', value: (entry) => cut(aboutText(entry), 31) },
];

/** Of what it was, and by which login; the most telling first. */
function aboutText({
  subject,
  runId,
  taskId,
  artifact,
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
    ...changes,
    note,
    runId === undefined ? (login?.subject ?? key?.slice(0, KEY_SHOWN_CHARS)) : undefined,
    runId === undefined ? peer : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(' ') || 'all runs';
}

function cut(text: string, charsMax: number): string {
  return text.length > charsMax ? `${text.slice(0, charsMax - 1).toWellFormed()}…` : text;
}
