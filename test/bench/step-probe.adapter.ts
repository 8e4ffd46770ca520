import { type FSWatcher, watch } from 'node:fs';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import {
  attemptOfSubject,
  DeviceAnswer,
  type DeviceRequest,
  HEADER_TYPES,
  type RunCommit,
  type RunId,
  subjects,
  type TaskId,
} from '#proto';
import { isComplete, type StepMarks } from './step-times.js';

type Steps = Map<TaskId, Partial<StepMarks>>;

/** Looks on while a chain runs on one device. It costs a little itself, so nothing else is measured meanwhile. */
export class StepProbe {
  readonly #runs = new Map<RunId, Steps>();
  /** By the inbox that is waiting for it: what an answer to that inbox means. */
  readonly #awaited = new Map<string, (message: Msg) => void>();
  readonly #writes: number[] = [];
  readonly #subscriptions: Subscription[];
  readonly #journal: FSWatcher;

  constructor(nc: NatsConnection, journalFile: string) {
    const look = (subject: string, callback: (message: Msg) => void): Subscription =>
      nc.subscribe(subject, { callback: (_, message) => callback(message) });
    this.#subscriptions = [
      look(subjects.anyLiveRun, (message) => this.#run(message, 'startStored', 'nextStored')),
      look(subjects.anyRun, (message) => this.#run(message, undefined, 'nextPublished')),
      look(subjects.anyDeviceCommand, (message) => this.#request(message)),
      look(subjects.anyAttempt, (message) => this.#attemptEnd(message)),
      look('_INBOX_device-agent.>', (message) => this.#awaited.get(message.subject)?.(message)),
    ];
    this.#journal = watch(journalFile, () => this.#writes.push(performance.now()));
  }

  /** The steps of a run that were seen from beginning to end. */
  stepsOf(runId: RunId): StepMarks[] {
    const all = [...(this.#runs.get(runId) ?? new Map<TaskId, Partial<StepMarks>>()).values()];
    return all
      .map((marks): Partial<StepMarks> => {
        const between = this.#writes.filter((at) => (marks.requested ?? 0) < at && at < (marks.answered ?? 0));
        const [journalStarted, journalFinished] = [between.at(0), between.at(-1)];
        if (journalStarted === undefined || journalFinished === undefined || between.length < 2) return marks;
        return { ...marks, journalStarted, journalFinished };
      })
      .filter(isComplete);
  }

  stop(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    this.#journal.close();
  }

  /** A commit of a run, on its way or stored: the beginning of some steps and the end of others. */
  #run(message: Msg, started: 'startStored' | undefined, ended: 'nextPublished' | 'nextStored'): void {
    const at = performance.now();
    if (!/TASK_STARTED|TASK_COMPLETED/u.test(message.headers?.get(HEADER_TYPES) ?? '')) return;
    const { runId, events } = message.json<RunCommit>();
    for (const { type, data } of events) {
      if (type === 'TASK_STARTED' && started !== undefined) this.#stepOf(runId, data.taskId)[started] = at;
      if (type === 'TASK_COMPLETED') this.#stepOf(runId, data.taskId)[ended] = at;
    }
  }

  #request(message: Msg): void {
    const at = performance.now();
    const request = message.json<DeviceRequest>();
    if (request.kind !== 'run' || message.reply === undefined) return;
    const step = this.#stepOf(request.attempt.runId, request.attempt.taskId);
    step.requested ??= at;
    this.#awaited.set(message.reply, (answered) => {
      const now = performance.now();
      const answer = DeviceAnswer.parse(answered.json());
      if (answer.state !== 'finished') return;
      step.answered = now;
      if (answer.outcome.durationMs !== null) step.toolMs = answer.outcome.durationMs;
    });
  }

  #attemptEnd(message: Msg): void {
    const at = performance.now();
    const key = attemptOfSubject(message.subject);
    if (key?.kind !== 'end' || message.reply === undefined) return;
    const step = this.#stepOf(key.runId, key.taskId);
    step.endPublished = at;
    this.#awaited.set(message.reply, () => (step.endStored = performance.now()));
  }

  #stepOf(runId: RunId, taskId: TaskId): Partial<StepMarks> {
    const steps: Steps = this.#runs.get(runId) ?? new Map<TaskId, Partial<StepMarks>>();
    this.#runs.set(runId, steps);
    const step = steps.get(taskId) ?? {};
    steps.set(taskId, step);
    return step;
  }
}
