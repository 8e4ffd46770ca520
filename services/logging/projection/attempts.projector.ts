import { In } from 'typeorm';
import { AttemptCommit, attemptOfSubject, parseWith, sentenceOf, parseJson } from '#proto';
import { attentionOfAttempt } from '#libs/attention';
import type { StreamEntry } from '#libs/event-log';
import { commandRowsOf, endOf, lastByKey } from './attempt-rows.js';
import { AttemptEntity, AttentionEntity, attentionRow, CommandEntity, ReportEntity } from '../entities/index.js';
import type { BurialParts } from './dead-letter.adapter.js';
import { RowsProjection } from './rows.projector.js';
import { upsertRows } from './write.adapter.js';

/** ATTEMPTS -> table command and the end of attempts. */
export function attemptsProjection(options: BurialParts): RowsProjection<AttemptCommit> {
  return new RowsProjection<AttemptCommit>(
    {
      stream: 'ATTEMPTS',
      parse: parseAttempt,
      write: async (manager, read) => {
        const ends = read.flatMap(({ entry, commit }) => endOf(entry.subject, commit) ?? []);
        await upsertRows(manager, AttemptEntity, lastByKey(ends));
        const commands = read.flatMap(({ entry, commit }) => commandRowsOf(commit, entry.sequence));
        await upsertRows(manager, CommandEntity, commands);
        const found = read.flatMap(({ commit }) => attentionOfAttempt(commit).map((entry) => attentionRow(entry)));
        await upsertRows(manager, AttentionEntity, found);
        // A report tells of pictures that are dropped, which happens after the end of its run: it is written anew.
        const stale = read.flatMap(({ commit }) => (dropsPictures(commit) ? [commit.runId] : []));
        if (stale.length > 0) await manager.delete(ReportEntity, { runId: In([...new Set(stale)]) });
      },
    },
    options,
  );
}

const dropsPictures = ({ events }: AttemptCommit): boolean => events.some(({ type }) => type === 'PICTURES_DROPPED');

/** The commit of a message of ATTEMPTS, or why it is none. */
export function parseAttempt(entry: StreamEntry): AttemptCommit | string {
  const parsed = parseWith(AttemptCommit, parseJson(entry.data));
  if (!parsed.ok) return parsed.issues.map(sentenceOf).join('; ');
  const { runId, taskId, attempt } = parsed.value;
  const key = attemptOfSubject(entry.subject);
  const same = key?.runId === runId && key.taskId === taskId && key.attempt === attempt;
  return same ? parsed.value : `it says that it belongs to ${runId} ${taskId} ${attempt}`;
}
