import type { RunCommit, RunEvent, RunId } from '#proto';
import { type Answer, type decide, type RunDecision, foldEvents, type Input, type Run } from '#libs/constellation';
import type { Appended } from '#libs/event-log';
import type { RunServerParts } from '../../services/orchestrator/runs/run-server.handler.js';
import type { WakeUps } from '../../services/orchestrator/runs/wake-ups.handler.js';
import { LogClient } from './simulated-log.js';

type Decide = typeof decide;

/** A fault that somebody could make, put between the shell and one of its parts. */
export interface Bug {
  readonly log?: typeof LogClient;
  readonly decide?: (proper: Decide) => Decide;
  readonly wakeUps?: (proper: WakeUps) => WakeUps;
}

/** Who gets no answer thinks that nothing was stored, and stores it where the log ends by now. */
class HastyLogClient extends LogClient {
  override async append(runId: RunId, commit: RunCommit, end: number): Promise<Appended> {
    const sent = await this.send(runId, commit, end);
    if (sent.kind === 'appended') return sent;
    if (sent.kind === 'wrong-sequence') return { kind: 'conflict' };
    const again = await this.send(runId, commit, await this.endsAt(runId));
    return again.kind === 'appended' ? again : { kind: 'conflict' };
  }
}

/** Whatever comes of a task counts for the attempt that runs. */
function unfenced(run: Run, input: Input): Input {
  if (input.kind !== 'attempt-ended') return input;
  const index = run.graph.taskIndex.get(input.taskId);
  return index === undefined ? input : { ...input, attempt: run.tasks.at(index).attempt };
}

/** The second delivery of what was decided is decided as if it were the first. */
function applyTwice(run: Run, decision: RunDecision, inputs: readonly Input[]): RunDecision {
  const again = inputs.flatMap((input, index) => (isKnown(decision.answers[index]) ? [input] : []));
  const events = again.flatMap((input): RunEvent[] => {
    if (input.kind !== 'attempt-ended' || input.finished.status !== 'completed') return [];
    const { taskId, attempt, attemptHash } = input;
    const { result } = input.finished;
    const completedAt = new Date(0).toISOString();
    return [{ type: 'TASK_COMPLETED', data: { taskId, attempt, result, lines: [], completedAt, attemptHash } }];
  });
  if (events.length === 0) return decision;
  const all = [...decision.events, ...events];
  return { ...decision, events: all, run: foldEvents(run, all) };
}

function isKnown(answer: Answer | undefined): boolean {
  return answer?.kind === 'ignored' && answer.reason === 'DUPLICATE_RESULT';
}

/** A wake-up that is armed stays, also when an earlier one is needed. */
function keepingTheFirst(proper: WakeUps): WakeUps {
  return {
    armed: (runId) => proper.armed(runId),
    expectNone: (runId) => proper.expectNone(runId),
    forget: (runId) => proper.forget(runId),
    arm: async (runId, at) => {
      const before = await proper.armed(runId);
      if (before === undefined || before <= at) await proper.arm(runId, at);
    },
  };
}

/** A round that is given up stays open. */
function leakingTheLock(run: Run, decision: RunDecision): RunDecision {
  const types: readonly string[] = decision.events.map(({ type }) => type);
  const at = types.indexOf('EDIT_ABANDONED');
  if (at < 0) return decision;
  const events = decision.events.slice(0, at);
  return { ...decision, events, run: foldEvents(run, events) };
}

/** Nobody remembers what was asked before. */
function askAgain(run: Run, decision: RunDecision, inputs: readonly Input[]): RunDecision {
  const events = inputs.flatMap((input, index): RunEvent[] => {
    const answer = decision.answers[index];
    if (input.kind !== 'asked' || answer?.kind !== 'ignored' || answer.reason !== 'ASKED_BEFORE') return [];
    const { taskId, attempt, ask, attemptHash } = input;
    const requestedAt = new Date(0).toISOString();
    return [{ type: 'APPROVAL_REQUESTED', data: { taskId, attempt, ask, requestedAt, attemptHash } }];
  });
  if (events.length === 0) return decision;
  const all = [...events, ...decision.events];
  return { ...decision, events: all, run: foldEvents(run, all) };
}

/** What a model wrote is taken like what a person has reviewed. */
function believed(input: Input): Input {
  return input.kind === 'proposal' && input.source === 'model' ? { ...input, source: 'runbook' } : input;
}

/** One of each kind that a run must survive; every one of them has to be found. */
export const BUGS = {
  'lost-ack': { log: HastyLogClient },
  'no-fencing': {
    decide: (proper) => (run, inputs, circumstances) =>
      proper(
        run,
        inputs.map((input) => unfenced(run, input)),
        circumstances,
      ),
  },
  'double-apply': {
    decide: (proper) => (run, inputs, circumstances) => applyTwice(run, proper(run, inputs, circumstances), inputs),
  },
  'stale-timer': { wakeUps: keepingTheFirst },
  'leaked-lock': {
    decide: (proper) => (run, inputs, circumstances) => leakingTheLock(run, proper(run, inputs, circumstances)),
  },
  'believed-model': {
    decide: (proper) => (run, inputs, circumstances) =>
      proper(
        run,
        inputs.map((input) => believed(input)),
        circumstances,
      ),
  },
  'asked-again': {
    decide: (proper) => (run, inputs, circumstances) => askAgain(run, proper(run, inputs, circumstances), inputs),
  },
} as const satisfies Record<string, Bug>;

export type BugName = keyof typeof BUGS;
export const BUG_NAMES = Object.keys(BUGS) as BugName[];

export type Ports = Pick<RunServerParts, 'log' | 'wakeUps' | 'decide'>;
