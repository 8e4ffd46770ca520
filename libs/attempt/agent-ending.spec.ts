import { describe, expect, it } from '@jest/globals';
import { commandIdOf, LIMITS, type AttemptEvent, type ResultFile } from '#proto';
import { endOfSteps } from './agent-ending.js';
import { EMPTY_BOOK, recordFacts } from './book.js';

const key = { runId: 'r', taskId: 't', attempt: 1 };
const kept = (name: string, digit = '1'): ResultFile => ({
  name,
  mediaType: 'image/png',
  artifact: { sha256: digit.repeat(64), bytes: 5 },
});
const lost: ResultFile = { name: 'lost.png', mediaType: 'image/png', problem: 'not kept: it is no image' };

/** A command of a step that has come back with files. */
const finished = (step: number, files: ResultFile[]): AttemptEvent => ({
  type: 'COMMAND_FINISHED',
  data: {
    commandId: commandIdOf(key, step),
    deviceId: 'd',
    sessionId: 's',
    command: { tool: 'look', arguments: {} },
    state: 'COMPLETED',
    result: { value: '', ...(files.length > 0 && { files }) },
    error: null,
    startedAt: null,
    durationMs: null,
  },
});

function filesOf(...steps: ResultFile[][]): readonly ResultFile[] | undefined {
  const book = recordFacts(
    EMPTY_BOOK,
    steps.map((files, index) => finished(index + 1, files)),
  );
  const end = endOfSteps(book, { kind: 'completed', result: { value: 'done' } }).at(-1);
  return end?.type === 'ATTEMPT_FINISHED' && end.data.status === 'completed' ? end.data.result.files : undefined;
}

describe('what an agent came to', () => {
  it('has the files of its commands, each once, and none that is not kept', () => {
    const files = filesOf([kept('a.png'), lost], [kept('a.png'), kept('b.png', '2')]);
    expect(files).toEqual([kept('a.png'), kept('b.png', '2')]);
  });

  it('has no files where its commands came back with none', () => {
    expect(filesOf([], [lost])).toBeUndefined();
  });

  it('has the newest, and no more than a result may name', () => {
    const many = Array.from({ length: LIMITS.resultFilesMax + 10 }, (_, index) => kept(`${index}.png`));
    const files = filesOf(many.slice(0, 30), many.slice(30));
    expect(files?.map(({ name }) => name)).toEqual(many.slice(10).map(({ name }) => name));
  });
});
