import { describe, expect, it } from '@jest/globals';
import { approvalsTable, approvalText, commandText } from './approval-text.js';
import { APPROVAL_ID, approvalOf, COMMAND_ASK, QUESTION_ASK } from '../testing/sample-asks.js';

const PIPE = { isTerminal: false, color: false };

describe('what a person is asked', () => {
  it('is the exact command: nothing of it is left out, and what hides is shown', () => {
    expect(commandText(COMMAND_ASK.command)).toBe(
      String.raw`EXEC_CLI systemctl restart nginx\u200b\nrm -rf /srv/old {"timeout":30}`,
    );
    expect(commandText({ tool: 'FILE_PUT', arguments: { path: '/srv/a\u202E' } })).toBe(
      String.raw`FILE_PUT {"path":"/srv/a\u202e"}`,
    );
  });

  it('cannot look like another one, whatever it spells', () => {
    const fake = { tool: 'EXEC_CLI', arguments: { command: 'rm -r data\nworking_directory = "/tmp/x"' } };
    const real = { tool: 'EXEC_CLI', arguments: { command: 'rm -r data', working_directory: '/tmp/x' } };
    const shown = [fake, real].map((command) => approvalText(approvalOf({ ...COMMAND_ASK, command }), PIPE));
    expect(shown[0]).not.toBe(shown[1]);
    const line = { tool: 'EXEC_CLI', arguments: { command: 'rm -r data {"working_directory":"/tmp/x"}' } };
    expect(commandText(line)).not.toBe(commandText(real));
    expect(commandText({ tool: 'T', arguments: { command: '"a"' } })).toBe(String.raw`T "\"a\""`);
  });

  it('has a line in a list', () => {
    const row = approvalsTable([approvalOf(COMMAND_ASK), approvalOf(QUESTION_ASK, { state: 'answered' })], PIPE);
    expect(row.split('\n').map((line) => line.split('\t'))).toEqual([
      [APPROVAL_ID, 'open', 'web', 'web-1', 'privileged', '2026-11-20 12:10:00Z', expect.stringContaining('systemctl')],
      [APPROVAL_ID, 'answered', 'web', 'web-1', 'question', '2026-11-20 12:10:00Z', '? Which port?'],
    ]);
  });

  it('says what it would be given, and what it was given', () => {
    const wall = {
      kind: 'write',
      views: [],
      writable: ['/srv/\u202Ea'],
      reason: 'So it is.',
      runsAs: '65533',
    } as const;
    const open = approvalText(approvalOf({ ...COMMAND_ASK, wall }), PIPE).split('\n');
    expect(open).toContain(
      String.raw`sandbox   may write where commands work and in /srv/\u202ea; speaks to nobody; runs as 65533; sees no secrets`,
    );
    expect(open).toContain('          So it is.');
    expect(open.at(-1)).toContain('add --sandbox internet');
    const decided = approvalOf({ ...COMMAND_ASK, wall }, { state: 'approved', wall: { kind: 'none', views: [] } });
    expect(approvalText(decided, PIPE)).toContain('given     no wall');
  });

  it('on a screen is named with its window, and says how to look at it', () => {
    const on = {
      agent: 'AppAgent',
      application: 'thunderbird',
      window: 'Mail\u202E',
      control: { id: '7', type: 'Button', name: 'Send' },
      snapshot: 'k3.1',
    };
    const command = { tool: 'click_input', arguments: { id: '7', name: 'Send' }, on };
    const picture = { sha256: 'a'.repeat(64), bytes: 10 };
    const lines = approvalText(approvalOf({ ...COMMAND_ASK, command, picture }), PIPE).split('\n');
    expect(lines).toContain(
      String.raw`where     Button "Send" (7) in the window "Mail\u202e" of "thunderbird", listing k3.1`,
    );
    expect(lines).toContain(`picture   orrery artifacts get ${picture.sha256} -o ${APPROVAL_ID}.png`);
  });

  it('comes with all that is needed to decide, and how', () => {
    expect(approvalText(approvalOf(COMMAND_ASK), PIPE)).toBe(
      [
        `approval  ${APPROVAL_ID}`,
        'state     open',
        'run       run-1',
        'task      web, attempt 1, step 2',
        'asked by  LinuxAgent for device web-1, 2026-11-20 12:00:00Z',
        'until     2026-11-20 12:10:00Z',
        'class     privileged (rule program.systemctl)',
        'because   systemctl restart changes a service',
        '',
        'EXEC_CLI',
        String.raw`    | systemctl restart nginx\u200b`,
        '    | rm -rf /srv/old',
        'with',
        '    | timeout = 30',
        '',
        'the agent thinks',
        '    The service hangs.',
        '',
        'its plan',
        '    1. restart it',
        '    2. look again',
        '',
        `decide with: orrery approve ${APPROVAL_ID}   or: orrery reject ${APPROVAL_ID}`,
      ].join('\n'),
    );
  });

  it('says who has decided, and what a grant lets through', () => {
    const by = { kind: 'person', id: 'anna' } as const;
    const decided = approvalOf(COMMAND_ASK, {
      state: 'approved',
      by,
      note: 'go on',
      decidedAt: '2026-11-20T12:01:00.000Z',
      grantUntil: '2026-11-20T13:00:00.000Z',
    });
    const text = approvalText(decided, PIPE);
    expect(text).toContain('approved       by anna, 2026-11-20 12:01:00Z');
    expect(text).toContain('granted until  2026-11-20 13:00:00Z');
    expect(text).not.toContain('decide with');
  });
});
