import { describe, expect, it } from '@jest/globals';
import { ServerMessage } from '#proto';
import { commandMessage, listToolsMessages, type OutgoingCommand } from './command-message.js';

const command: OutgoingCommand = {
  commandId: 'r1.a.1.0.0',
  attempt: { runId: 'r1', taskId: 'a', attempt: 1 },
  command: { tool: 'EXEC_CLI', arguments: { command: 'true' } },
  digest: 'd',
  startWithinMs: 5,
};

describe('commandMessage', () => {
  it('carries our fields only to a device that speaks our revision', () => {
    const [ours, foreign] = [1, null].map((revision) => commandMessage(command, { sessionId: 's', revision }, 0));
    expect(ours?.orrery).toEqual({ command_id: 'r1.a.1.0.0', attempt: command.attempt, not_after_ms: 5, digest: 'd' });
    expect(foreign).not.toHaveProperty('orrery');
    expect(foreign).toEqual({ ...ours, orrery: undefined });
  });

  it('says how a command was judged to devices that judge again, and to no other', () => {
    const judged = { class: 'write', decision: 'approve', rule: 'program.rm', approvalId: 'r1.a.1.0.0' } as const;
    const told = [2, 1, null].map(
      (revision) => commandMessage({ ...command, judged }, { sessionId: 's', revision }, 0).orrery?.judged,
    );
    expect(told).toEqual([judged, undefined, undefined]);
    expect(commandMessage(command, { sessionId: 's', revision: 2 }, 0).orrery).not.toHaveProperty('judged');
  });

  it('has what a foreign client needs to answer at all: one action, an agent it knows, the type action', () => {
    for (const message of [
      commandMessage(command, { sessionId: 's', revision: null }, 0),
      ...listToolsMessages('command-line', 0),
    ]) {
      expect(message).toMatchObject({ agent_name: 'LinuxAgent', actions: [{ tool_type: 'action' }] });
      expect(message.actions).toHaveLength(1);
      expect(ServerMessage.safeParse(message).success).toBe(true);
    }
  });
});
