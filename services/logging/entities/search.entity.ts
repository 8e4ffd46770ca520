import { EntitySchema } from 'typeorm';
import type { CommandCall, FoundState, PolicyDecision } from '#proto';
import { id, instant, int, json, position, text } from './columns.js';

/** One command as it is searched for, as its last fact tells of it. What it printed is in the row of `command`. */
export interface SearchRow {
  commandId: string;
  /** Of its last fact: the message in ATTEMPTS and the event in it, in one number. */
  place: number;
  streamSequence: number;
  at: string;
  device: string | null;
  by: string | null;
  state: FoundState;
  exitCode: number | null;
  rule: string | null;
  decision: PolicyDecision | null;
  /** Of one that has no row in `command`, for it has not run. */
  call: CommandCall | null;
  cut: boolean;
  /** All that it is found by, as a tsvector. */
  words: string;
}

/** What the policy said about a command: told before it is known what becomes of it. */
export interface JudgementRow {
  commandId: string;
  place: number;
  rule: string;
  decision: PolicyDecision;
}

/** The index over `words`, which the mapper does not know how to make: SearchProjection does. */
export const SEARCH_WORDS_INDEX = 'search_by_words';

export const SearchEntity = new EntitySchema<SearchRow>({
  name: 'search',
  columns: {
    commandId: id('command_id', true),
    place: position('place'),
    streamSequence: position('stream_sequence'),
    at: instant('at'),
    device: { ...id('device'), nullable: true },
    by: text('by', true),
    state: id('state'),
    exitCode: int('exit_code', { nullable: true }),
    rule: { ...id('rule'), nullable: true },
    decision: { ...id('decision'), nullable: true },
    call: json('call', true),
    cut: { name: 'cut', type: 'boolean' },
    words: { name: 'words', type: 'tsvector', select: false },
  },
  indices: [
    { name: 'search_by_place', columns: ['place'] },
    { name: 'search_by_time', columns: ['at'] },
    { name: SEARCH_WORDS_INDEX, columns: ['words'], synchronize: false },
  ],
});

export const JudgementEntity = new EntitySchema<JudgementRow>({
  name: 'judgement',
  columns: {
    commandId: id('command_id', true),
    place: position('place', true),
    rule: id('rule'),
    decision: id('decision'),
  },
});
