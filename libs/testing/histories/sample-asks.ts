import type { ApprovalView, Ask, AttemptEvent, ModelCall } from '#proto';

// What an agent asks, for tests: a command with something hidden in it, and a question.
const AT = '2026-11-20T12:00:00.000Z';
export const APPROVAL_ID = 'run-1.web.1.2.0';
const shape = {
  approvalId: APPROVAL_ID,
  deviceId: 'web-1',
  agent: 'LinuxAgent',
  step: 2,
  thought: 'The service\u001B[2J hangs.',
  plan: ['restart it', 'look again'],
  expiresAt: '2026-11-20T12:10:00.000Z',
};

export const COMMAND_ASK = {
  kind: 'approval',
  ...shape,
  command: { tool: 'EXEC_CLI', arguments: { command: 'systemctl restart nginx\u200B\nrm -rf /srv/old', timeout: 30 } },
  class: 'privileged',
  rule: 'program.systemctl',
  reasons: ['systemctl restart changes a service'],
  policyHash: 'a'.repeat(64),
  grantable: true,
} as const satisfies Ask;

export const QUESTION_ASK = { kind: 'question', ...shape, question: 'Which port?' } as const satisfies Ask;

export function approvalOf(ask: Ask, change: Partial<ApprovalView> = {}): ApprovalView {
  const open = { state: 'open', by: null, note: null, decidedAt: null, grantUntil: null } as const;
  return {
    approvalId: ask.approvalId,
    runId: 'run-1',
    taskId: 'web',
    attempt: 1,
    ask,
    requestedAt: AT,
    ...open,
    ...change,
  };
}

export const MODEL_CALL: ModelCall = {
  model: 'gpt-test',
  endpoint: 'main',
  promptHash: 'b'.repeat(64),
  parameters: {},
  reply: '{}',
  problems: [],
  error: null,
  tokens: { prompt: 1_200, completion: 34 },
  costUsd: 0.0021,
  startedAt: AT,
  durationMs: 800,
};

const { command } = COMMAND_ASK;
const judgement = { class: 'privileged', decision: 'approve', rule: 'program.systemctl', grantable: true } as const;
const ids = { step: 2, index: 0, commandId: APPROVAL_ID } as const;
const where = { deviceId: 'web-1', sessionId: 's1' } as const;

/** One step of an agent that had to ask, as it is recorded. */
export const ASKED_STEP: readonly AttemptEvent[] = [
  {
    type: 'STEP_PLANNED',
    data: {
      step: 2,
      agent: 'LinuxAgent',
      calls: [{ ...MODEL_CALL, problems: ['action.status: is missing'] }, MODEL_CALL],
      templates: [],
      reply: {},
      status: 'CONTINUE',
      observation: '',
      thought: 'The service\u001B[2J hangs.',
      plan: ['restart it'],
      comment: '',
      notes: ['nginx hangs'],
    },
  },
  {
    type: 'COMMAND_JUDGED',
    data: {
      ...ids,
      command,
      ...judgement,
      reasons: ['it changes a service'],
      origin: 'agent',
      policyHash: 'a'.repeat(64),
    },
  },
  { type: 'ATTEMPT_ASKED', data: COMMAND_ASK },
  {
    type: 'ATTEMPT_SIGNALLED',
    data: {
      signal: 'decision',
      approvalId: APPROVAL_ID,
      decision: 'approved',
      by: { kind: 'person', id: 'anna' },
      note: 'go on',
    },
  },
  {
    type: 'COMMAND_ISSUED',
    data: { ...ids, command, ...where, journalId: 'j1', notAfter: AT, approvalId: APPROVAL_ID },
  },
  {
    type: 'COMMAND_FINISHED',
    data: {
      commandId: APPROVAL_ID,
      command,
      ...where,
      state: 'COMPLETED',
      result: { value: { stdout: 'done\u001B]0;x\u0007\n'.repeat(20), stderr: '', exit_code: 0 } },
      error: null,
      startedAt: AT,
      durationMs: 1_500,
    },
  },
  { type: 'POSTCONDITION_CHECKED', data: { satisfied: false, reason: 'the port is closed' } },
  {
    type: 'ATTEMPT_FINISHED',
    data: {
      status: 'failed',
      error: { code: 'POSTCONDITION_FAILED', message: 'the port is closed', outcome: 'failed' },
      used: { llmCalls: 2, tokens: 2_468, commands: 1, costUsd: 0.0042 },
    },
  },
];
