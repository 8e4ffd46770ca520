import { describe, expect, it } from '@jest/globals';
import { RecordedEdit, RecordedLine, RecordedRunEvent, Edit, RunRequest, stdinSources, TaskStarLine } from './index.js';

const line = { id: 'l', from: 'a', to: 'b' };
const tasks = ['a', 'b'].map((id) => ({ id, name: id, target: { device: 'web-1' } }));
const constellation = { name: 'x', tasks, lines: [line] };

describe('a line without a type', () => {
  it('is success-only where somebody says it', () => {
    expect(TaskStarLine.parse(line).type).toBe('success-only');
    expect(RunRequest.parse({ requestId: 'r', constellation }).constellation?.lines[0]?.type).toBe('success-only');
    expect(Edit.parse({ tool: 'add_dependency', line })).toMatchObject({ line: { type: 'success-only' } });
    expect(Edit.parse({ tool: 'build_constellation', constellation })).toMatchObject({
      constellation: { lines: [{ type: 'success-only' }] },
    });
  });

  it('is what it was when it was recorded: unconditional', () => {
    expect(RecordedLine.parse(line).type).toBe('unconditional');
    expect(RecordedEdit.parse({ tool: 'add_dependency', line })).toMatchObject({ line: { type: 'unconditional' } });
    const event = RecordedRunEvent.parse({
      id: 'run-1',
      sequence: 1,
      schemaVersion: 1,
      type: 'RUN_REQUESTED',
      data: {
        requestId: 'r',
        namespace: 'default',
        contentHash: 'a'.repeat(64),
        goal: null,
        constellation,
        options: {},
        metadata: {},
        requestedBy: { kind: 'external', id: 'ops' },
        requestedAt: '2026-01-01T00:00:00.000Z',
        deadlineAt: '2026-01-02T00:00:00.000Z',
      },
    });
    expect(event).toMatchObject({ data: { constellation: { lines: [{ type: 'unconditional' }] } } });
  });
});

describe('what a command reads', () => {
  const sources = (stdin: object | string | null) =>
    stdinSources({ tool: 'EXEC_CLI', arguments: { command: 'cat', stdin: stdin as string } });

  it('names tasks and fields in their order', () => {
    const from = ['b', { task: 'a' }, { task: 'a', field: 'stderr' }];
    expect(sources({ from })).toEqual(from);
  });

  it('is nothing of a task in a text, a secret, an empty list and anything else', () => {
    const others = ['text', null, { from: [] }, { from: ['a'], more: 1 }, { secret: 's' }, { parts: [{ text: 'x' }] }];
    for (const stdin of others) expect(sources(stdin)).toEqual([]);
    expect(stdinSources({ tool: 'EXEC_CLI', arguments: { command: 'cat' } })).toEqual([]);
    expect(stdinSources(undefined)).toEqual([]);
  });
});
