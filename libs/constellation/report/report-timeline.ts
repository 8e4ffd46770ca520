import type { RunCommit, RunView } from '#proto';
import { boardOfCommits, shownBoard } from '../board/index.js';
import { conversationOf, eventWords, isTalk, itemText, type Showing, writerText } from '../views/index.js';
import { limited } from './report-limits.js';
import { cell } from './report-text.js';

const TEXT_CHARS_MAX = 1_000;
/** A cell makes all of it harmless, and cuts it. */
const AS_SAID: Showing = {
  exact: (text) => text,
  brief: (text) => text,
  moment: (instant) => instant,
  clock: (instant) => instant.slice(11, 19),
};

/** Every event of a run with its time, in words. */
export function timelineSection(run: Pick<RunView, 'requestedAt'>, commits: readonly RunCommit[]): string {
  const start = Date.parse(run.requestedAt);
  const rows = commits.flatMap(({ number, at, events }) =>
    events.map((event) => [
      String(event.sequence),
      `+${((Date.parse(at) - start) / 1_000).toFixed(3)} s`,
      event.type,
      cell(eventWords(event, AS_SAID), TEXT_CHARS_MAX),
      String(number),
    ]),
  );
  return `## Timeline\n\n${limited(['#', 'Time', 'Event', 'What', 'Commit'], rows)}`;
}

/** Who asked, said and answered what, one after the other; nothing where nothing but the request was said. */
export function conversationSection(commits: readonly RunCommit[]): string {
  const items = conversationOf(commits);
  if (!isTalk(items)) return '';
  const rows = items.map((item) => [
    String(item.sequence),
    cell(item.at),
    cell(itemText(item)),
    item.text === '' ? '-' : cell(item.text, TEXT_CHARS_MAX),
  ]);
  return `## Conversation\n\n${limited(['#', 'At', 'Who', 'What'], rows)}`;
}

/** What stood on the board at the end, and who wrote it; nothing where nobody did. */
export function boardSection(commits: readonly RunCommit[]): string {
  const entries = shownBoard({ board: boardOfCommits(commits), blackboard: [] });
  if (entries.length === 0) return '';
  const rows = entries.map((entry) => [
    cell(entry.name),
    String(entry.revision ?? '-'),
    String(entry.bytes),
    cell(writerText(entry)),
    entry.judge === true ? 'yes' : 'no',
    cell(JSON.stringify(entry.value), TEXT_CHARS_MAX),
  ]);
  return `## Board\n\n${limited(['Name', 'Revision', 'Bytes', 'By', 'Judged', 'Value'], rows)}`;
}

/** What people noted beside the history, however much of the timeline is left out. */
export function notesSection({ notes }: Pick<RunView, 'notes'>): string {
  if (!notes) return '';
  const rows = notes.map(({ annotatedAt, by, taskId = 'the run', text }) => [
    cell(annotatedAt),
    cell(by.id),
    cell(taskId),
    cell(text, TEXT_CHARS_MAX),
  ]);
  return `## Notes\n\n${limited(['Time', 'By', 'About', 'Note'], rows)}`;
}
