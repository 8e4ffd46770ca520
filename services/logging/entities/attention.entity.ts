import { EntitySchema } from 'typeorm';
import { attentionIdOf } from '#libs/event-log';
import type { Attention, Comings } from '#libs/attention';
import type { Actor, AttentionAbout, AttentionEntry, AttentionId } from '#proto';
import { id, instant, json, position, text } from './columns.js';

/** One thing that needs somebody, as the logs and the system tell it. What people have said to it is in rows of their own. */
export interface AttentionRow {
  id: AttentionId;
  kind: AttentionAbout['kind'];
  key: string;
  runId: string | null;
  taskId: string | null;
  deviceId: string | null;
  what: string;
  next: string;
  since: string;
  until: string | null;
  /** Of a dead letter: its place in DLQ. */
  letter: number | null;
  /** Of what stands in no log: with what something is wrong. */
  name: string | null;
}

/** The last word about an entry. */
export interface AttentionWordRow {
  id: AttentionId;
  state: Exclude<AttentionEntry['state'], 'open'>;
  by: Actor;
  at: string;
  reason: string | null;
}

/** What is remembered of the comings of a device. */
export interface ComingsRow extends Comings {
  deviceId: string;
}

export const AttentionEntity = new EntitySchema<AttentionRow>({
  name: 'attention',
  columns: {
    id: id('id', true),
    kind: id('kind'),
    key: text('key'),
    runId: { ...id('run_id'), nullable: true },
    taskId: { ...id('task_id'), nullable: true },
    deviceId: { ...id('device'), nullable: true },
    what: text('what'),
    next: text('next'),
    since: instant('since'),
    until: instant('until', true),
    letter: { ...position('letter'), nullable: true },
    name: text('name', true),
  },
  indices: [
    { name: 'attention_by_time', columns: ['since', 'id'] },
    { name: 'attention_of_run', columns: ['runId'] },
  ],
});

export const AttentionWordEntity = new EntitySchema<AttentionWordRow>({
  name: 'attention_word',
  columns: {
    id: id('id', true),
    state: id('state'),
    by: json('by'),
    at: instant('at'),
    reason: text('reason', true),
  },
});

export const ComingsEntity = new EntitySchema<ComingsRow>({
  name: 'comings',
  columns: { deviceId: id('device', true), latest: json('latest'), since: instant('since', true) },
});

/** As it is stored. */
export function attentionRow(
  { runId, taskId, deviceId, ...entry }: Attention,
  { letter, name }: Partial<Pick<AttentionRow, 'letter' | 'name'>> = {},
): AttentionRow {
  const about = { runId: runId ?? null, taskId: taskId ?? null, deviceId: deviceId ?? null };
  return { id: attentionIdOf(entry.key), ...entry, ...about, letter: letter ?? null, name: name ?? null };
}
