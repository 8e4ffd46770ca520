import { AttemptCommit, attemptOfSubject, parseWith, sentenceOf, parseJson } from '#proto';
import type { StreamEntry } from '#libs/event-log';
import { commandRowsOf, endOf, lastByKey } from './attempt-rows.js';
import { AttemptEntity, CommandEntity } from '../entities/index.js';
import type { BurialParts } from './dead-letter.adapter.js';
import { RowsProjection } from './rows.projector.js';
import { upsertRows } from './write.adapter.js';

/** ATTEMPTS -> table command and the end of attempts. */
export function attemptsProjection(options: BurialParts): RowsProjection<AttemptCommit> {
  return new RowsProjection<AttemptCommit>(
    {
      stream: 'ATTEMPTS',
      parse,
      write: async (manager, read) => {
        const ends = read.flatMap(({ entry, commit }) => endOf(entry.subject, commit) ?? []);
        await upsertRows(manager, AttemptEntity, lastByKey(ends));
        const commands = read.flatMap(({ entry, commit }) => commandRowsOf(commit, entry.sequence));
        await upsertRows(manager, CommandEntity, commands);
      },
    },
    options,
  );
}

function parse(entry: StreamEntry): AttemptCommit | string {
  const parsed = parseWith(AttemptCommit, parseJson(entry.data));
  if (!parsed.ok) return parsed.issues.map(sentenceOf).join('; ');
  const { runId, taskId, attempt } = parsed.value;
  const key = attemptOfSubject(entry.subject);
  const same = key?.runId === runId && key.taskId === taskId && key.attempt === attempt;
  return same ? parsed.value : `it says that it belongs to ${runId} ${taskId} ${attempt}`;
}
