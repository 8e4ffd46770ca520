import { AttentionCommit, parseJson, parseWith, sentenceOf, subjects } from '#proto';
import type { StreamEntry } from '#libs/event-log';
import { AttentionWordEntity, type AttentionWordRow } from '../entities/index.js';
import { RowsProjection, upsertRows, type BurialParts } from '../projection/index.js';

/** ATTENTION -> table attention_word: the last word about each entry. */
export function wordsProjection(options: BurialParts): RowsProjection<AttentionCommit> {
  return new RowsProjection<AttentionCommit>(
    {
      stream: 'ATTENTION',
      parse,
      write: (manager, read) => {
        const rows = read.map(({ commit }) => [commit.attentionId, rowOf(commit)] as const);
        return upsertRows(manager, AttentionWordEntity, [...new Map(rows).values()]);
      },
    },
    options,
  );
}

function rowOf({ attentionId: id, events }: AttentionCommit): AttentionWordRow {
  const event = events.at(-1);
  if (event === undefined) throw new Error(`a commit about ${id} has no event`);
  const { by, at } = event.data;
  if (event.type === 'ATTENTION_TAKEN') return { id, state: 'taken', by, at, reason: null };
  return { id, state: 'settled', by, at, reason: event.data.reason };
}

function parse(entry: StreamEntry): AttentionCommit | string {
  const parsed = parseWith(AttentionCommit, parseJson(entry.data));
  if (!parsed.ok) return parsed.issues.map(sentenceOf).join('; ');
  const { attentionId } = parsed.value;
  return subjects.attention(attentionId) === entry.subject ? parsed.value : `it says that it is about ${attentionId}`;
}
