import { describe, expect, it } from '@jest/globals';
import { workspaceCommandIdOf, type RunCommandRequest } from '#proto';
import { CommandTable } from './command-table.js';

const PARTS = [{ text: '\u00e4' }, { artifact: { sha256: 'a'.repeat(64), bytes: 5_000_000 } }];
const READING: RunCommandRequest = {
  kind: 'run',
  commandId: 'r1.a.1',
  attempt: { runId: 'r1', taskId: 'a', attempt: 1 },
  deviceId: 'd',
  sessionId: 's1',
  journalId: 'j1',
  command: { tool: 'T', arguments: { stdin: { parts: PARTS } } },
  priority: 0,
  notAfter: new Date(1_000_000).toISOString(),
};
const table = (change: object = {}) =>
  new CommandTable({ sessionId: 's1', journalId: 'j1', tools: new Set(['T']), slots: 2, ...change });
const admit = (to: CommandTable) => to.admit({ request: READING, digest: 'd1', bytes: 100 }, 0);

describe('a command that reads files', () => {
  it('is refused for a device that takes none, and says how many bytes that are', () => {
    for (const to of [table(), table({ journalId: null })]) {
      expect(admit(to)).toEqual({
        state: 'refused',
        code: 'INPUT_UNAVAILABLE',
        message: expect.stringMatching(/^the stdin of "a" has 5000002 bytes,.* its device takes no files$/u),
      });
      expect(to.next(0)).toEqual([]);
    }
  });

  it('is sent to a device that takes them', () => {
    const to = table({ takesStdinFiles: true });
    expect(admit(to)).toBeNull();
    expect(to.next(0)).toMatchObject([{ kind: 'send', command: { commandId: 'r1.a.1' } }]);
  });
});

describe('a command of a workspace', () => {
  const { attempt } = READING;
  const command = { tool: 'T', arguments: {} };
  const inWorkspace = { ...READING, command, workspace: true, startedAt: '2026-11-20T10:00:00.000Z' } as const;
  const moving = { ...READING, command: { tool: 'WORKSPACE_OUT', arguments: { patterns: ['a'] } } };
  const admitted = (to: CommandTable, request: RunCommandRequest) => to.admit({ request, digest: 'd', bytes: 1 }, 0);

  it('is refused for a device that keeps none', () => {
    const commandId = workspaceCommandIdOf(attempt, 'WORKSPACE_OUT');
    for (const request of [inWorkspace, { ...moving, commandId }])
      expect(admitted(table(), request)).toMatchObject({ state: 'refused', code: 'NO_WORKSPACES' });
  });

  it('says so to a device that keeps them, and moves files with tools that the device has not named', () => {
    const to = table({ hasWorkspaces: true });
    const commandId = workspaceCommandIdOf(attempt, 'WORKSPACE_OUT');
    expect([admitted(to, inWorkspace), admitted(to, { ...moving, commandId })]).toEqual([null, null]);
    expect(to.next(0)).toMatchObject([
      { command: { commandId: 'r1.a.1', workspace: true, startedAt: '2026-11-20T10:00:00.000Z' } },
      { command: { commandId } },
    ]);
  });

  it.each(['r1.a.1.0.0', 'r1.a.1.1.0', workspaceCommandIdOf(attempt, 'WORKSPACE_IN')])(
    'moves no files as %s, which an exact command, a step of an agent or the other tool has',
    (commandId) =>
      expect(admitted(table({ hasWorkspaces: true, tools: undefined }), { ...moving, commandId })).toMatchObject({
        state: 'refused',
        code: 'INVALID_REQUEST',
      }),
  );
});
