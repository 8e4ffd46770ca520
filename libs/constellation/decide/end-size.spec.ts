import { expect, it } from '@jest/globals';
import { LIMITS, Proposal } from '#proto';
import { add, ask, build, completed, constellation, failed, imagine, propose, Story, verb } from '../testing/given.js';
import { jsonBytes } from '../values/json-bytes.js';

/** As much of an id as there may be. */
const long = (name: string): string => name.padEnd(60, 'x');
const idOf = (index: number): string => long(`t${index}`);
const TASKS = Array.from({ length: LIMITS.tasksMax }, (_, index) => idOf(index));
const DONE = 200;
const BATCH = 1_000;

/** A run as large as one may be: some tasks have ended, one has failed, and all the others hang from some that are still to start. */
function enormous(): Story {
  const story = new Story().when(ask({ options: { concurrency: 1, lockPolicy: 'strict' } }));
  const command = { tool: 'EXEC_CLI', arguments: { command: 'c'.repeat(950) } };
  const first = TASKS.slice(0, DONE + 50).map((id) => ({ id, command }));
  story.when(propose('e1', [build(constellation(first))]));
  const edit = (id: string, edits: readonly unknown[]) =>
    story.when(verb({ verb: 'PROPOSE', delegated: false, proposal: Proposal.parse({ edits }) } as never, id));
  for (let from = first.length; from < TASKS.length; from += BATCH) {
    edit(
      `tasks ${from}`,
      TASKS.slice(from, from + BATCH).map((id) => add.task(id)),
    );
  }
  const lines = Array.from({ length: LIMITS.linesMax }, (_, index) => {
    const from = idOf(DONE + 1 + (index % 6));
    return {
      id: long(`l${index}`),
      from,
      to: idOf(first.length + (Math.floor(index / 6) % 1_700)),
      type: 'unconditional',
    };
  });
  for (let from = 0; from < lines.length; from += BATCH) {
    edit(
      `lines ${from}`,
      lines.slice(from, from + BATCH).map((line) => ({ tool: 'add_dependency', line })),
    );
  }
  for (let index = 0; index < DONE; index++) story.when(completed(idOf(index)));
  return story.when(failed(idOf(DONE)));
}

it('the end of the largest run fits into one commit, with the words of its answer', () => {
  const story = enormous();
  const { editing, counts, lines } = story.run;
  expect([counts.PENDING, lines.length]).toEqual([LIMITS.tasksMax - DONE - 1, LIMITS.linesMax]);
  // Each of these characters takes six bytes.
  const text = '\u0001'.repeat(LIMITS.answerCharsMax);
  story.when(imagine(editing?.editId ?? '', [], { state: 'FINISH', answer: { text, evidence: TASKS.slice(0, DONE) } }));
  const events = story.last?.events ?? [];
  expect(events.at(-1)).toMatchObject({ type: 'RUN_COMPLETED', data: { answer: { text, by: 'model' } } });
  const recorded = events.map((event, index) => ({
    id: `${'r'.repeat(26)}-${index}`,
    sequence: index,
    schemaVersion: 1,
    ...event,
  }));
  expect(jsonBytes(recorded)).toBeLessThan(LIMITS.commitBytesMax - 32 * 1024);
});
