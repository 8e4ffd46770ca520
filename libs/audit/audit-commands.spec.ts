import { describe, expect, it } from '@jest/globals';
import {
  commandIdOf,
  WORKSPACE_IN,
  WORKSPACE_OUT,
  workspaceCommandIdOf,
  type AttemptCommit,
  type AttemptEvent,
  type AttemptFiles,
  type WorkspaceTool,
} from '#proto';
import { auditCommands, type DecisionClaims } from './audit-attempts.js';
import { sampleAsks } from '#libs/testing';

const { APPROVAL_ID, ASKED_STEP } = sampleAsks;

const DECIDED: DecisionClaims = new Map([[APPROVAL_ID, [{ decision: 'approved', by: 'anna' }]]]);
const problemsOf = (events: readonly AttemptEvent[], decisions = DECIDED): string[] => {
  const commit = { number: 1, events } as unknown as AttemptCommit;
  return auditCommands([commit], decisions).map(({ message }) => message);
};
const without = (...types: AttemptEvent['type'][]) => ASKED_STEP.filter(({ type }) => !types.includes(type));
const altered = (type: AttemptEvent['type'], data: object) =>
  ASKED_STEP.map((event) =>
    event.type === type ? ({ ...event, data: { ...event.data, ...data } } as AttemptEvent) : event,
  );

describe('the audit of an agent’s commands', () => {
  it('finds nothing in what was judged, asked, approved, issued and finished', () => {
    expect(problemsOf(ASKED_STEP)).toEqual([]);
    expect(problemsOf(altered('COMMAND_JUDGED', { decision: 'log' }))).toEqual([]);
  });

  it.each<[string, readonly AttemptEvent[], DecisionClaims, string]>([
    ['was never judged', without('COMMAND_JUDGED'), DECIDED, 'was issued and never judged'],
    ['was denied', altered('COMMAND_JUDGED', { decision: 'deny' }), DECIDED, 'was issued although it was denied'],
    ['nobody approved', without('ATTEMPT_SIGNALLED'), DECIDED, 'was issued and nobody approved it'],
    [
      'was rejected',
      altered('ATTEMPT_SIGNALLED', { decision: 'rejected' }),
      new Map([[APPROVAL_ID, [{ decision: 'rejected', by: 'anna' }]]]),
      'was issued and nobody approved it',
    ],
    [
      'is another one than was judged',
      altered('COMMAND_ISSUED', { command: { tool: 'EXEC_CLI', arguments: { command: 'id' } } }),
      DECIDED,
      'was issued as another command than was judged',
    ],
    [
      'was issued twice',
      [...ASKED_STEP, ...ASKED_STEP.filter(({ type }) => type === 'COMMAND_ISSUED')],
      DECIDED,
      'was issued twice',
    ],
    [
      'ended twice',
      [...ASKED_STEP, ...ASKED_STEP.filter(({ type }) => type === 'COMMAND_FINISHED')],
      DECIDED,
      'ended twice',
    ],
  ])('names a command that %s', (_, events, decisions, message) => {
    expect(problemsOf(events, decisions)).toEqual([`${APPROVAL_ID} ${message}`]);
  });

  it('finds nothing in what its device wanted to be asked about, and names what was issued before anybody was', () => {
    const of = (type: AttemptEvent['type']) => ASKED_STEP.filter((event) => event.type === type);
    const first = altered('COMMAND_JUDGED', { decision: 'allow' }).filter(({ type }) => type === 'COMMAND_JUDGED');
    const again = altered('COMMAND_JUDGED', { origin: 'device' }).filter(({ type }) => type === 'COMMAND_JUDGED');
    const [issued, rest] = [of('COMMAND_ISSUED'), [...of('ATTEMPT_ASKED'), ...of('ATTEMPT_SIGNALLED')]];
    expect(problemsOf([...first, ...issued, ...again, ...rest, ...issued, ...of('COMMAND_FINISHED')])).toEqual([]);
    expect(problemsOf([...first, ...issued, ...again, ...issued])).toEqual([
      `${APPROVAL_ID} was issued and nobody approved it`,
    ]);
  });

  it.each<[string, readonly [WorkspaceTool, object], AttemptFiles | undefined, readonly string[]]>([
    ['stores what the run named', [WORKSPACE_OUT, { patterns: ['a.log'] }], { out: ['a.log'] }, []],
    ['brings what it takes', [WORKSPACE_IN, { files: [] }], { in: [{ taskId: 'b', attempt: 1 }] }, []],
    [
      'stores more',
      [WORKSPACE_OUT, { patterns: ['**'] }],
      { out: ['a.log'] },
      ['moves files that the run did not name'],
    ],
    ['brings what nobody takes', [WORKSPACE_IN, { files: [] }], undefined, ['moves files that the run did not name']],
  ])('takes from nobody the word for a command that %s', (_, [tool, args], files, messages) => {
    const key = { runId: 'run-1', taskId: 'a', attempt: 1 };
    const commandId = workspaceCommandIdOf(key, tool);
    const issued = (id: string) =>
      ({
        type: 'COMMAND_ISSUED',
        data: { commandId: id, command: { tool, arguments: args } },
      }) as unknown as AttemptEvent;
    const found = (id: string) =>
      auditCommands([{ number: 1, ...key, events: [issued(id)] } as unknown as AttemptCommit], DECIDED, files);
    expect(found(commandId).map(({ message }) => message)).toEqual(
      messages.map((message) => `${commandId} ${message}`),
    );
    // Of another place it is a command like every other one.
    const [other] = found(commandIdOf(key, 1));
    expect(other?.message).toContain('was issued and never judged');
  });

  it('names a decision that the run knows nothing of', () => {
    expect(problemsOf(ASKED_STEP, new Map())).toEqual([
      `${APPROVAL_ID} is approved by anna, and the run says nothing of it`,
    ]);
  });

  it('lets the truth follow an unknown outcome, once', () => {
    const unknown = altered('COMMAND_FINISHED', { state: 'OUTCOME_UNKNOWN' });
    const late = ASKED_STEP.filter(({ type }) => type === 'COMMAND_FINISHED');
    expect(problemsOf([...unknown, ...late])).toEqual([]);
    expect(problemsOf([...unknown, ...late, ...late])).toEqual([`${APPROVAL_ID} ended twice`]);
  });
});
