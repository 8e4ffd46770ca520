import {
  HEADER_TYPES,
  PLAN_INPUT_TYPES,
  type Cause,
  type PlanCommit,
  type RecordedPlanEvent,
  type RunId,
} from '#proto';
import type { Input, Run } from '#libs/constellation';
import { CorruptLogError, type PlanLog } from '#libs/event-log';
import type { BusMessage } from '#libs/messaging';
import type { StoredEnd } from './served-run.js';

const PLANNER = { kind: 'system', id: 'planner' } as const;

/** What the planner says to a run: the input that a commit of PLANS is, and where it comes from. */
interface PlanWord {
  readonly input: Input;
  readonly cause: Cause;
}

/** Whether a commit may say something to its run; without the header nobody knows before it is parsed. */
export function maySpeak(message: Pick<BusMessage, 'header'>): boolean {
  const types = message.header(HEADER_TYPES)?.split(',');
  return types === undefined || PLAN_INPUT_TYPES.some((type) => types.includes(type));
}

/** Undefined when it says nothing to the run. Throws when it says more than one thing, or answers no round. */
export function planWord({ events, hash }: PlanCommit): PlanWord | undefined {
  const [word, ...others] = events.flatMap((event) => wordOf(event, hash) ?? []);
  if (others.length > 0) throw new Error(`the commit says ${others.length + 1} things to its run; it may say one`);
  return word;
}

/**
 * What the planner has said already of the round that a run believes open. A replica that takes the run over needs not wait
 * until the server gives it the message that the one before it was working on; it is ignored when it comes. What cannot be
 * read is left to that message: it must not keep the run from being served.
 */
export async function storedWords(plans: PlanLog, { runId, editing }: Run): Promise<StoredEnd[]> {
  if (editing === null) return [];
  const wanted = planCause(editing.editId, editing.tries + 1);
  const commits = await commitsOf(plans, runId);
  return commits.flatMap((commit) => {
    const word = legibleWord(commit);
    return word?.cause.id === wanted ? [{ ...word, bytes: JSON.stringify(commit).length }] : [];
  });
}

async function commitsOf(plans: PlanLog, runId: RunId): Promise<PlanCommit[]> {
  try {
    return (await plans.load(runId)).map(({ commit }) => commit);
  } catch (error) {
    if (error instanceof CorruptLogError) return [];
    throw error;
  }
}

function legibleWord(commit: PlanCommit): PlanWord | undefined {
  try {
    return planWord(commit);
  } catch {
    return undefined;
  }
}

function wordOf(event: RecordedPlanEvent, planHash: string): PlanWord | undefined {
  switch (event.type) {
    case 'PLAN_PROPOSED': {
      const { proposal, source, used } = event.data;
      if (proposal.editId === null) throw new Error('the plan answers no round');
      const cause = { kind: 'plan', id: planCause(proposal.editId, proposal.try) } as const;
      return { cause, input: { kind: 'proposal', proposal, by: PLANNER, planHash, source, used } };
    }
    case 'ROUND_FAILED': {
      const { editId, try: number, error, used } = event.data;
      const cause = { kind: 'plan', id: planCause(editId, number) } as const;
      return { cause, input: { kind: 'round-failed', editId, try: number, error, used, planHash } };
    }
    case 'RUN_EVALUATED': {
      const { evaluation, used } = event.data;
      return { cause: { kind: 'plan', id: 'evaluation' }, input: { kind: 'evaluated', evaluation, used, planHash } };
    }
    case 'ROUND_PLANNED':
    case 'RUN_SUMMARISED':
      return undefined;
    default:
      return event satisfies never;
  }
}

const planCause = (editId: string, number: number): string => `${editId}.${number}`;
