import { pino } from 'pino';
import { GENESIS_HASH, type Actor, type Demonstration, type Json, type RunEvent, type RunEventData } from '#proto';
import { memoryPlanLog, memoryRunLog, newCommitId, sealCommit } from '#libs/event-log';
import { ScriptedChatModel, StoringModelDesk, type Script, type Scripted } from '#libs/llm';
import type { PlannerPrompt } from '#libs/planner';
import { BoundaryTaken } from '#libs/prompter';
import { EvaluationHandler } from '../learning/evaluation.handler.js';
import { LearningHandler } from '../learning/learning.handler.js';
import { MemoryExperienceStore } from './memory-experience-store.js';
import { PlanCommits } from '../rounds/plan-commits.adapter.js';
import { Reflection, type ReflectionPrompter } from '../learning/reflection.runner.js';

export const RUN = 'run1';
export const ANNA: Actor = { kind: 'person', id: 'anna' };
export const AT = '2026-11-20T10:00:00.000Z';
const LATER = '2026-11-21T10:00:00.000Z';
const NOW = Date.parse(AT);
const SILENT = pino({ level: 'silent' });
const HASH = 'a'.repeat(64);

/** A reply of the agent that makes examples. */
export function example(change: Readonly<Record<string, Json>> = {}): Scripted {
  const task = { task_id: 'disk', name: 'disk', description: 'Report the disks.', target: { os: 'linux' } };
  return { json: { request: 'Report the disks', tips: ['df -P'], constellation: { tasks: [task] }, ...change } };
}

export const JUDGED: Scripted = {
  json: { reason: 'df says so', sub_scores: [{ name: 'disks reported', evaluation: 'yes' }], complete: 'yes' },
};

export const DEMONSTRATION: Demonstration = {
  name: 'disks by hand',
  request: 'Report the disks',
  steps: [{ device: 'web-1', description: 'look', command: 'df -P', result: 'key 9f86d081884c7d659a2f' }],
};

/** What outlives a process, for tests: the logs and the store. A new `process()` knows nothing but them. */
export class ReflectingWorld {
  readonly runs = memoryRunLog();
  readonly plans = memoryPlanLog();
  readonly store = new MemoryExperienceStore();
  readonly model: ScriptedChatModel;
  /** What prompts were made with. */
  readonly boundaries: string[] = [];
  /** The first prompts that contain their boundary by chance. */
  boundariesTaken = 0;

  constructor(script: readonly Scripted[] | Script = []) {
    this.model = new ScriptedChatModel(script, { now: () => NOW, tokens: { prompt: 100, completion: 10 } });
  }

  /** A run of one task, up to its end unless told otherwise. */
  async run({ goal = 'report the disks', end = 'succeeded', stdout = 'fine' }: TestedRun = {}): Promise<void> {
    await this.#append(eventsOf({ goal, end, stdout }));
  }

  /** The run is opened again, and ends once more; what becomes of it is added. */
  async endAgain(...more: readonly RunEvent[]): Promise<void> {
    const reopened = { by: ANNA, reopenedAt: AT, deadlineAt: LATER };
    await this.#append([{ type: 'RUN_REOPENED', data: reopened }, ...endOf('succeeded')]);
    if (more.length > 0) await this.#append(more);
  }

  async #append(events: readonly RunEvent[]): Promise<void> {
    const stored = await this.runs.load(RUN);
    const last = stored.at(-1);
    const commit = newCommitId(NOW);
    const recorded = events.map((event, index) => ({
      id: `${commit}.${index}`,
      sequence: (last?.commit.events.at(-1)?.sequence ?? 0) + index + 1,
      schemaVersion: 1,
      ...event,
    }));
    const by = { service: 'orchestrator', instance: 'test' };
    const draft = { commit, number: stored.length + 1, at: AT, by, causes: [], runId: RUN, events: recorded };
    await this.runs.append(RUN, sealCommit(draft, last?.commit.hash ?? GENESIS_HASH), last?.sequence ?? 0);
  }

  process({ hasModel = true, prompter = this.prompter() }: ProcessOptions = {}) {
    const { runs, plans, store } = this;
    const clock = { now: () => NOW };
    const commits = new PlanCommits({ plans, clock, instance: 'i1' });
    const artifacts = { put: () => Promise.reject(new Error('nothing is kept here')) };
    const desk = new StoringModelDesk({ model: this.model, artifacts, keepPrompts: false, logger: SILENT });
    const random = () => `boundary-of-a-prompt-${this.boundaries.length}`;
    const signal = new AbortController().signal;
    const reflection = hasModel ? new Reflection({ desk, prompter, random, signal }) : null;
    return {
      learning: new LearningHandler({ runs, commits, store, reflection, clock, logger: SILENT }),
      evaluation: new EvaluationHandler({ runs, commits, reflection, fleet: { profiles: [] }, logger: SILENT }),
    };
  }

  /** Prompts of one word each. */
  prompter(): ReflectionPrompter {
    const made = (words: string) => () => this.#prompt(words);
    return { evaluation: made('judge'), experience: made('learn'), demonstration: made('watch') };
  }

  async types(): Promise<string[]> {
    return (await this.plans.load(RUN)).flatMap(({ commit }) => commit.events.map(({ type }) => type));
  }

  #prompt(words: string): PlannerPrompt {
    const count = this.boundaries.push(words);
    if (count <= this.boundariesTaken) throw new BoundaryTaken('result');
    const templates = [{ id: `planner/${words}`, hash: HASH }];
    return { messages: [{ role: 'user', content: words }], templates, examples: [] };
  }
}

interface ProcessOptions {
  readonly hasModel?: boolean;
  readonly prompter?: ReflectionPrompter;
}

interface TestedRun {
  readonly goal?: string | null;
  readonly end?: 'succeeded' | 'partially_failed' | 'failed' | 'none';
  readonly stdout?: string;
}

function eventsOf({ goal, end, stdout }: Required<TestedRun>): RunEvent[] {
  const star = { id: 'disk', name: 'disk', description: '', tips: [], target: { device: 'web-1' } };
  const requested: RunEventData<'RUN_REQUESTED'> = {
    requestId: 'request-1',
    namespace: 'default',
    contentHash: HASH,
    goal,
    constellation: { name: 'disks', tasks: [star], lines: [] },
    options: {},
    metadata: {},
    requestedBy: { kind: 'external', id: 'default' },
    requestedAt: AT,
    deadlineAt: LATER,
  };
  const started: RunEventData<'TASK_STARTED'> = {
    taskId: 'disk',
    attempt: 1,
    deviceId: 'web-1',
    sessionId: 's1',
    journalId: null,
    agent: { name: 'disk', description: '', tips: [], blackboard: [] },
    inputs: [],
    priority: 0,
    startedAt: AT,
    timeoutAt: LATER,
  };
  const result = { value: { exit_code: 0, stdout, stderr: '' } };
  return [
    { type: 'RUN_REQUESTED', data: requested },
    {
      type: 'CONSTELLATION_MODIFIED',
      data: { revision: 1, origin: 'request', tasks: 1, lines: 0, modifiedAt: AT },
    },
    { type: 'TASK_STARTED', data: started },
    {
      type: 'TASK_COMPLETED',
      data: { taskId: 'disk', attempt: 1, result, lines: [], completedAt: AT, attemptHash: HASH },
    },
    ...endOf(end),
  ];
}

function endOf(end: Required<TestedRun>['end']): RunEvent[] {
  const counts = { completed: 1, failed: 0, skipped: 0, cancelled: 0 };
  if (end === 'none') return [];
  if (end === 'failed') {
    const reason = { code: 'PLAN_FAILED', message: 'it cannot be done' };
    return [{ type: 'RUN_FAILED', data: { reason, counts, failedAt: AT } }];
  }
  return [{ type: 'RUN_COMPLETED', data: { outcome: end, counts, completedAt: AT } }];
}
