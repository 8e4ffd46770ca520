import {
  instantOf,
  type AgentProfile,
  type EditTrigger,
  type Instant,
  LIMITS,
  type RunEvent,
  type TaskStar,
} from '#proto';
import type { RunDraft } from '../fold/index.js';
import {
  type Assignment,
  type Avoided,
  candidates,
  couldSatisfy,
  type FleetView,
  offers,
  missesText,
  movesFiles,
  unsatisfied,
  type Unsatisfied,
  unsatisfiedText,
} from '../edits/index.js';
import { asksPlanner, editPolicyOf, type Run, type TaskState } from '../state/index.js';
import type { Judge } from '../plan/index.js';
import { taskFailed } from './task-failed.js';

// A ready task that no connected device can take waits, and the run says since when (TASKS_WAITING). After `deviceAskMs` its
// planner is asked, once per wait; after `deviceWaitMs` the task has failed. A task for which a device is connected and busy
// stands in a queue and does not wait in this sense, nor does one whose run is paused. A run whose request says neither waits
// until its own deadline: so it was before there were these bounds.

/** Positions of ready tasks for which all devices were looked through: which no connected one can take, and which wait for one that is busy. */
export interface Seen {
  readonly stranded: readonly number[];
  readonly queued: readonly number[];
  /** Of one that is stranded. */
  why(index: number): string;
}

export const NOTHING_SEEN: Seen = { stranded: [], queued: [], why: () => '' };

interface Occasion {
  readonly fleet: FleetView;
  readonly now: number;
}

type Wait = Extract<Assignment, { kind: 'wait' }>;

/** The ready tasks that got no device in one look at them. */
export class Waits {
  readonly #run: Run;
  readonly #judge: Judge;
  readonly #occasion: Occasion;
  readonly #byNeed = new Map<string, Wait>();
  readonly #reasons = new Map<string, string>();
  readonly #stranded: number[] = [];
  readonly #queued: number[] = [];
  /** What those that are stranded may not have, where that is not the same for all with their needs. */
  readonly #avoided = new Map<number, Avoided>();

  constructor({ run, judge }: Pick<RunDraft, 'run' | 'judge'>, occasion: Occasion) {
    this.#run = run;
    this.#judge = judge;
    this.#occasion = occasion;
  }

  get seen(): Seen {
    return { stranded: this.#stranded, queued: this.#queued, why: (index) => this.#why(index) };
  }

  /** The answer for tasks with the same needs; undefined when none was looked for yet. */
  ofNeed(need: string): Wait | undefined {
    return this.#byNeed.get(need);
  }

  /** The end of the task, when it has waited for as long as it may. */
  take(index: number, wait: Wait, avoid: Avoided): RunEvent | undefined {
    const { need } = this.#run.tasks.at(index);
    const isAnswerForAll = avoid.session === null && avoid.failedOn.length === 0;
    if (isAnswerForAll) this.#byNeed.set(need, wait);
    if (wait.busy.length > 0 || wait.until !== null) {
      this.#queued.push(index);
      return undefined;
    }
    if (!this.#occasion.fleet.complete) return undefined;
    this.#stranded.push(index);
    if (!isAnswerForAll) this.#avoided.set(index, avoid);
    if (!isOver(this.#run, index, this.#occasion)) return undefined;
    const why = `${targetText(this.#run.tasks.at(index).star)}: ${this.#why(index)}`;
    const message = `no connected device could take it for ${durationText(boundsOf(this.#run).waitMs ?? 0)}: ${why}`;
    const error = { code: 'DEVICE_UNAVAILABLE', message, outcome: 'failed' } as const;
    return taskFailed({ run: this.#run, judge: this.#judge }, index, error, this.#occasion.now);
  }

  #why(index: number): string {
    const { star, need } = this.#run.tasks.at(index);
    const { fleet } = this.#occasion;
    const avoid = this.#avoided.get(index);
    if (avoid !== undefined) return whyNoDevice(star, fleet, avoid);
    const why = this.#reasons.get(need) ?? whyNoDevice(star, fleet, NOTHING_AVOIDED);
    this.#reasons.set(need, why);
    return why;
  }
}

const NOTHING_AVOIDED: Avoided = { session: null, failedOn: [] };

/** Records who begins to wait and who waits no more; nothing where it is recorded already. */
export function noteWaits(draft: RunDraft, seen: Seen, now: number): void {
  const { run } = draft;
  const { stranded, queued } = seen;
  const waits = (index: number) => run.stranded.has(index);
  const began = boundsOf(run).waitMs === undefined ? [] : stranded.filter((index) => !waits(index));
  const unready = [...run.stranded].filter((index) => !run.ready.has(index));
  const over = [...queued.filter(waits), ...unready];
  if (began.length + over.length === 0) return;
  const ids = (indexes: readonly number[]) => indexes.map((index) => run.tasks.at(index).star.id);
  const reasons = new Map<string, string[]>();
  for (const index of began) {
    const text = seen.why(index).slice(0, LIMITS.waitReasonCharsMax).toWellFormed();
    const known = reasons.get(text);
    if (known !== undefined) known.push(...ids([index]));
    else if (reasons.size === LIMITS.waitReasonsMax) break;
    else reasons.set(text, ids([index]));
  }
  const said = [...reasons].map(([text, tasks]) => ({ tasks, text }));
  const data = { began: ids(began), over: ids(over), at: instantOf(now), ...(said.length > 0 && { why: said }) };
  draft.add({ type: 'TASKS_WAITING', data });
}

/** What the planner is asked about tasks that have waited for long enough; none while nobody is asked. */
export function waitTriggers(run: Run, { stranded }: Seen, { fleet, now }: Occasion): EditTrigger[] {
  const { askMs } = boundsOf(run);
  if (askMs === undefined || !mayAsk(run) || !hasLooked(fleet, askMs)) return [];
  return stranded.flatMap((index): EditTrigger[] => {
    const { star, deviceWait } = run.tasks.at(index);
    if (deviceWait === null || deviceWait.asked || now < Date.parse(deviceWait.since) + askMs) return [];
    return [{ kind: 'device', taskId: star.id }];
  });
}

/** It has waited for as long as it may, and the planner does not think about it just now. */
function isOver(run: Run, index: number, { fleet, now }: Occasion): boolean {
  const { star, deviceWait } = run.tasks.at(index);
  const { waitMs } = boundsOf(run);
  if (deviceWait === null || waitMs === undefined || now < Date.parse(deviceWait.since) + waitMs) return false;
  return hasLooked(fleet, waitMs) && !isAskedAbout(run, star.id);
}

/** When something about the waits of a run is due that has not happened yet. */
export function* dueWaits(run: Run): Generator<Instant> {
  const { askMs, waitMs } = boundsOf(run);
  const asks = askMs !== undefined && run.editing === null && mayAsk(run);
  for (const index of run.stranded) {
    const { deviceWait } = run.tasks.at(index);
    if (deviceWait === null) continue;
    const since = Date.parse(deviceWait.since);
    if (asks && !deviceWait.asked) yield instantOf(since + askMs);
    if (waitMs !== undefined) yield instantOf(since + waitMs);
  }
}

/** `b (target ...: web-1 is lost) since 12:00:05Z, given up at ...`: what a person is told about a task that waits; undefined when it does not. */
export function waitText(run: Run, { star, deviceWait }: TaskState): string | undefined {
  const { waitMs } = boundsOf(run);
  if (deviceWait === null || waitMs === undefined) return undefined;
  const until = instantOf(Date.parse(deviceWait.since) + waitMs);
  const asked = deviceWait.asked ? ', the planner was asked' : '';
  const why = deviceWait.why === null ? '' : `: ${deviceWait.why}`;
  return `${star.id} (${targetText(star)}${why}) since ${deviceWait.since}${asked}, given up at ${until}`;
}

function boundsOf({ request }: Run): { readonly askMs: number | undefined; readonly waitMs: number | undefined } {
  const { deviceAskMs: askMs, deviceWaitMs: waitMs } = request?.options ?? {};
  return { askMs, waitMs };
}

function mayAsk(run: Run): boolean {
  return editPolicyOf(run) !== 'never' && !run.plannerSilent && asksPlanner(run);
}

function isAskedAbout({ editing }: Run, taskId: string): boolean {
  return editing?.triggers.some((trigger) => trigger.kind === 'device' && trigger.taskId === taskId) === true;
}

/** After a start of the whole system devices need a moment to come back: an orchestrator that has just begun to look has not seen that none is there. */
function hasLooked({ complete, watchedMs }: FleetView, ms: number): boolean {
  return complete && watchedMs >= Math.min(ms, LIMITS.deviceGraceMs);
}

/** Of a task on several devices, why none of them is meant now. */
export const whyNone = (task: TaskStar, fleet: FleetView): string =>
  `${targetText(task)}: ${whyNoDevice(task, fleet, NOTHING_AVOIDED)}`;

const DEVICES_NAMED_MAX = 5;

/**
 * Why each device that is meant, or would be with more resources, cannot take the task now; of many devices the first by id. Those
 * that only miss what `where` asks for are counted.
 */
function whyNoDevice(task: TaskStar, fleet: FleetView, avoid: Avoided): string {
  const meant = [...candidates(task.target, fleet)].filter(
    (device) => couldSatisfy(device, task.target) || unsatisfied(device, task.target)?.field === 'resources',
  );
  const reasons = meant
    .toSorted((one, other) => (one.deviceId < other.deviceId ? -1 : 1))
    .map((device) => ({ device, why: whyNot(device, task, fleet, avoid) }));
  const misses = reasons.flatMap(({ why }) => (typeof why === 'string' || why.field !== 'where' ? [] : [why.miss]));
  const others = reasons.filter(({ why }) => typeof why === 'string' || why.field !== 'where');
  const named = others
    .slice(0, DEVICES_NAMED_MAX)
    .map(({ device, why }) => `${device.deviceId} ${typeof why === 'string' ? why : unsatisfiedText(why)}`);
  const more = others.length > DEVICES_NAMED_MAX ? [`and ${others.length - DEVICES_NAMED_MAX} more`] : [];
  const counted = misses.length === 0 ? [] : [`no device: ${missesText(misses)}`];
  return meant.length === 0 ? 'no enrolled device satisfies it' : [...counted, ...named, ...more].join('; ');
}

const TARGET_CHARS_MAX = 300;

function targetText({ target }: TaskStar): string {
  if ('device' in target) return `target device "${target.device}"`;
  return `target ${JSON.stringify(target).slice(0, TARGET_CHARS_MAX).toWellFormed()}`;
}

const REASON_CHARS_MAX = 100;

function whyNot(device: AgentProfile, task: TaskStar, fleet: FleetView, avoid: Avoided): string | Unsatisfied {
  const { status, session, held, changedAt, agent } = device;
  if (status === 'offline' || session === null) return 'has never connected';
  if (status !== 'connected') return `is ${status} since ${changedAt}`;
  if (held !== null) return `is held by ${held.by.id}: ${held.reason.slice(0, REASON_CHARS_MAX).toWellFormed()}`;
  if (session.sessionId === avoid.session) return 'was lost under this task and has not connected anew';
  const missed = unsatisfied(device, task.target);
  if (missed !== undefined) return missed;
  if (!movesFiles(device, task)) return 'moves no files: its client is an older one';
  if (task.command === undefined && !fleet.agents.has(agent))
    return `has no agent now: nobody serves ${agent} with a model`;
  const tool = [task.command?.tool, task.verify?.command?.tool].find(
    (one) => one !== undefined && !offers(device, one),
  );
  return tool === undefined ? 'does not take it' : `does not offer the tool "${tool}"`;
}

function durationText(ms: number): string {
  if (ms % 60_000 === 0) return `${ms / 60_000} min`;
  return ms % 1_000 === 0 ? `${ms / 1_000} s` : `${ms} ms`;
}
