import type { AttemptCommit, AttemptEvent, CommandCall, Json, ModelCall, RunCommit, RunView, TaskResult } from '#proto';

// An agent's attempt as it is recorded, of any length. For tests.
const AT = '2026-11-20T12:00:00.000Z';
const HASH = 'a'.repeat(64);
export const RUN = 'run-1';

export interface AgentAttempt {
  readonly taskId?: string;
  readonly attempt?: number;
  readonly steps: number;
  /** Everything that a model, a device or a person may write. */
  readonly said?: string;
  readonly command?: CommandCall;
  readonly result?: TaskResult;
  readonly answer?: TaskResult;
}

const MODEL_CALL: ModelCall = {
  model: 'gpt-test',
  endpoint: 'main',
  promptHash: HASH,
  parameters: {},
  reply: '{}',
  problems: [],
  error: null,
  tokens: { prompt: 100, completion: 20 },
  costUsd: null,
  startedAt: AT,
  durationMs: 800,
};

/** Commit by commit: each step thinks, is judged, asks every fifth time and is decided, runs, and has its end. */
export function agentCommits({ taskId = 'web', attempt = 1, steps, ...more }: AgentAttempt): AttemptCommit[] {
  const { said = 'all is well', answer = { value: said } } = more;
  const numbers = Array.from({ length: steps }, (_, index) => index + 1);
  const end: AttemptEvent[] = [
    { type: 'POSTCONDITION_CHECKED', data: { satisfied: true, reason: said } },
    {
      type: 'ATTEMPT_FINISHED',
      data: { status: 'completed', result: answer, used: { llmCalls: steps, tokens: 1, commands: steps, costUsd: 0 } },
    },
  ];
  const turns = [...numbers.flatMap((step) => turnOf(`${RUN}.${taskId}.${attempt}.${step}.0`, step, more)), end];
  return turns.map((events, index) => ({
    commit: '0'.repeat(26),
    number: index + 1,
    at: AT,
    by: { service: 'device-agent', instance: 'one' },
    causes: [],
    runId: RUN,
    taskId,
    attempt,
    events: events.map((event, at) => ({
      id: `e${index}-${at}`,
      sequence: index * 10 + at + 1,
      schemaVersion: 1,
      ...event,
    })),
    prevHash: HASH,
    hash: HASH,
  }));
}

function turnOf(commandId: string, step: number, more: Omit<AgentAttempt, 'steps'>): AttemptEvent[][] {
  const { said = 'all is well', result = { value: exec(said) } } = more;
  const { command = { tool: 'EXEC_CLI', arguments: { command: `echo ${step}` } } } = more;
  const where = { deviceId: 'web-1', sessionId: 's1' };
  const ids = { step, index: 0, commandId, command };
  const asks = step % 5 === 0;
  const verdict = { class: 'read' as const, rule: said, reasons: [said], grantable: true, policyHash: HASH };
  const judged: AttemptEvent = {
    type: 'COMMAND_JUDGED',
    data: { ...ids, ...verdict, decision: asks ? 'approve' : 'allow', origin: 'agent' },
  };
  const issued: AttemptEvent = { type: 'COMMAND_ISSUED', data: { ...ids, ...where, journalId: 'j1', notAfter: AT } };
  const ask = { approvalId: commandId, deviceId: 'web-1', agent: said.slice(0, 60), step, thought: said, plan: [said] };
  const asked: AttemptEvent = {
    type: 'ATTEMPT_ASKED',
    data: { kind: 'approval', ...ask, command, ...verdict, expiresAt: AT },
  };
  const by = { kind: 'person' as const, id: 'anna' };
  const decided: AttemptEvent = {
    type: 'ATTEMPT_SIGNALLED',
    data: { signal: 'decision', approvalId: commandId, decision: 'approved', note: said, by },
  };
  const end = { commandId, command, ...where, result, error: null, startedAt: AT, durationMs: 1_500 };
  const before = asks
    ? [[planned(step, said), judged], [asked], [decided, issued]]
    : [[planned(step, said), judged, issued]];
  return [...before, [{ type: 'COMMAND_FINISHED', data: { ...end, state: 'COMPLETED' } }]];
}

function planned(step: number, said: string): AttemptEvent {
  const calls = [{ ...MODEL_CALL, problems: [said] }, MODEL_CALL];
  const words = { observation: said, thought: said, plan: [said], comment: said, notes: [said] };
  const agent = said.slice(0, 60);
  const status = step === 1 ? agent : 'CONTINUE';
  return { type: 'STEP_PLANNED', data: { step, agent, calls, templates: [], reply: {}, status, ...words } };
}

export function exec(stdout: string): { [key: string]: Json } {
  return {
    stdout,
    stderr: '',
    exit_code: 0,
    command: 'echo',
    execution_time: 0.1,
    timestamp: AT,
    status: 'SUCCESS',
  };
}

/** The run that these attempts belong to, as far as a report of it needs it. */
export function agentRun(attempts: readonly AgentAttempt[], said = 'web'): { run: RunView; commits: RunCommit[] } {
  const events = attempts.map(({ taskId = 'web', attempt = 1 }) => ({
    type: 'TASK_STARTED',
    data: {
      taskId,
      attempt,
      deviceId: 'web-1',
      agent: { name: said, description: said, tips: [], blackboard: [] },
    },
  }));
  const tasks = attempts.map(({ taskId = 'web', attempt = 1 }) => ({ id: taskId, name: said, attempts: attempt }));
  return {
    run: {
      runId: RUN,
      tasks: tasks.map((task) => ({ ...task, status: 'COMPLETED', result: null })),
    } as unknown as RunView,
    commits: [{ events }] as unknown as RunCommit[],
  };
}
