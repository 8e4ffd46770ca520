import { eventWords, type Showing } from '#libs/constellation';
import { visibleLine } from '#libs/visible';
import type { RecordedRunEvent, RunCommit } from '#proto';
import { cleanLine, clipToWidth, clockText, momentText } from '../terminal/index.js';

/** Of what a planner or a person says of itself; the report has all of it. */
const BRIEF_CHARS_MAX = 200;
const SHOWING: Showing = {
  exact: visibleLine,
  brief: (text) => clipToWidth(cleanLine(text), BRIEF_CHARS_MAX),
  moment: momentText,
  clock: clockText,
};

/** One line per event: `12:01:02Z TASK_STARTED mem-1 on web-1`, or `13:01:02+01:00`. The same for a pipe, the live view and a replay. */
export function timelineOf(commit: RunCommit, events: readonly RecordedRunEvent[] = commit.events): string[] {
  return events.map((event) => cleanLine(`${clockText(commit.at)} ${event.type} ${eventWords(event, SHOWING)}`));
}
