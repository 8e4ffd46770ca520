import { describe, expect, it } from '@jest/globals';
import { attemptStories } from '#libs/constellation';
import type { AttemptCommit, AttemptEvent } from '#proto';
import { stepsText } from './steps-text.js';
import { ASKED_STEP } from '../../testing/sample-asks.js';

const commitOf = (events: readonly AttemptEvent[]): AttemptCommit => ({
  commit: '0'.repeat(26),
  number: 1,
  at: '2026-11-20T12:00:00.000Z',
  by: { service: 'device-agent', instance: 'one' },
  causes: [],
  runId: 'run-1',
  taskId: 'web',
  attempt: 1,
  events: events.map((event, index) => ({ id: `e${index}`, sequence: index + 1, schemaVersion: 1, ...event })),
  prevHash: '0'.repeat(64),
  hash: '1'.repeat(64),
});

describe('the steps of an attempt', () => {
  const lines = attemptStories([commitOf(ASKED_STEP)]).flatMap((story) => stepsText(story, { color: false }));

  it('say what was thought, judged, asked, done and answered, in order', () => {
    expect(lines.slice(0, 16)).toEqual([
      'web attempt 1',
      '  12:00:00Z step 2 LinuxAgent CONTINUE (gpt-test, 2 calls, 2,468 tokens, $0.0042, 1.6 s)',
      '      thinks: The service hangs.',
      '      plan: restart it',
      '      notes: nginx hangs',
      '      reply refused: action.status: is missing',
      String.raw`  12:00:00Z EXEC_CLI systemctl restart nginx\u200b\nrm -rf /srv/old {"timeout":30}`,
      '      privileged, approve: rule program.systemctl',
      '      it changes a service',
      String.raw`  12:00:00Z asks a person: EXEC_CLI systemctl restart nginx\u200b\nrm -rf /srv/old {"timeout":30}`,
      '      until 2026-11-20 12:10:00Z; run-1.web.1.2.0',
      '  12:00:00Z approved by anna: go on',
      '  12:00:00Z sent to web-1, approved',
      '  12:00:00Z COMPLETED, exit code 0, 1.5 s',
      '      | done',
      '      | done',
    ]);
    expect(lines.slice(-3)).toEqual([
      '      | ... 8 more lines',
      '  12:00:00Z post-condition does not hold: the port is closed',
      '  12:00:00Z failed POSTCONDITION_FAILED: the port is closed (2 model calls, 2,468 tokens, 1 command)',
    ]);
  });

  it('say what the model was told of a call that nobody made', () => {
    const told = ['execute_command was not run: arguments.command is missing.'];
    const steps = ASKED_STEP.flatMap((event) =>
      event.type === 'STEP_PLANNED' ? [{ ...event, data: { ...event.data, told } }] : [],
    );
    const [said] = attemptStories([commitOf(steps)]).map((story) => stepsText(story, { color: false }));
    expect(said?.[2]).toBe(`      was told: ${told[0] ?? ''}`);
  });

  it('call a command that ran into its wall what it is', () => {
    const error = { code: 'POLICY_MISMATCH', message: 'it tried to write to /etc', outcome: 'failed' } as const;
    const steps = ASKED_STEP.flatMap((event) =>
      event.type === 'COMMAND_FINISHED' ? [{ ...event, data: { ...event.data, state: 'FAILED' as const, error } }] : [],
    );
    const [said] = attemptStories([commitOf(steps)]).map((story) => stepsText(story, { color: false }));
    expect(said?.[1]).toContain(': security event POLICY_MISMATCH: it tried to write to /etc');
  });

  it('let nothing of a device or a model reach the terminal that is not text', () => {
    expect(lines.join('')).not.toContain('\u001B');
  });
});
