import { Dice } from '../simulation/random.js';
import type { FuzzFrame, Generator } from './generator.js';
import { Violation, type Act, type Subject, type Target, type Verdict } from './subject.js';

export type FuzzStep = FuzzFrame | Act;

/** One thing to try: sessions that begin at a stage and get these frames, a new one whenever one is over. */
export interface FuzzCase {
  readonly seed: number;
  readonly number: number;
  readonly target: Target;
  readonly stage: string;
  readonly steps: readonly FuzzStep[];
}

export const FRAMES_PER_CASE = 25;
const ACT = 0.25;

/** The same seed and number give the same case, whatever cases there were before. */
export function planCase(
  { seed, number }: { readonly seed: number; readonly number: number },
  target: Target,
  generator: Generator,
): FuzzCase {
  const dice = new Dice(seed, 'fuzz', target.name, number);
  const stage = target.stages[number % target.stages.length] ?? '';
  const recipe = target.recipe(stage);
  const steps: FuzzStep[] = [];
  for (let frames = 0; frames < FRAMES_PER_CASE; frames++) {
    while (dice.chance(ACT)) steps.push({ kind: 'act', name: dice.pick(target.acts), value: dice.next() });
    steps.push(generator.frame(recipe, dice));
  }
  return { seed, number, target, stage, steps };
}

export interface FuzzFailure {
  readonly reason: string;
  /** Which step it was. */
  readonly at: number;
}

export interface CaseRun {
  readonly failure: FuzzFailure | null;
  readonly verdicts: readonly (Verdict & { readonly made: FuzzFrame['made'] })[];
  /** The longest that one step would keep everybody else waiting, in processor time: other programs do not count. */
  readonly stepMsMax: number;
}

export function runCase({ target, stage, steps, seed, number }: FuzzCase): CaseRun {
  const dice = new Dice(seed, 'world', number);
  const verdicts: CaseRun['verdicts'][number][] = [];
  let stepMsMax = 0;
  let at = -1;
  try {
    let subject = target.open(stage, dice);
    for (const step of steps) {
      at++;
      if (needsAnother(subject, step, stage)) {
        subject.end();
        subject = target.open(stage, dice);
      }
      const began = process.threadCpuUsage();
      if (step.kind === 'act') subject.act(step);
      else verdicts.push({ ...subject.receive(step), made: step.made });
      stepMsMax = Math.max(stepMsMax, cpuMsSince(began));
    }
    at++;
    subject.end();
    demandCleanPrototypes();
    return { failure: null, verdicts, stepMsMax };
  } catch (error) {
    return { failure: { reason: reasonOf(error), at }, verdicts, stepMsMax };
  }
}

/** Processor time of this thread. */
export function cpuMsSince(began: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(began);
  return (user + system) / 1_000;
}

function needsAnother(subject: Subject, step: FuzzStep, stage: string): boolean {
  if (step.kind === 'act') return subject.isOver;
  return subject.isOver ? !step.afterEnd : step.fresh && subject.state !== stage;
}

const PROTOTYPE_KEYS = Object.getOwnPropertyNames(Object.prototype).length;

/** What a frame put into `__proto__` must be nobody's. */
function demandCleanPrototypes(): void {
  const isClean = Object.getOwnPropertyNames(Object.prototype).length === PROTOTYPE_KEYS && !('polluted' in {});
  if (!isClean) throw new Violation('a frame has changed the prototype of all objects');
}

function reasonOf(error: unknown): string {
  if (error instanceof Violation) return error.message;
  return error instanceof Error ? `${error.name}: ${error.message}\n${error.stack ?? ''}` : String(error);
}

const TRIES_MAX = 500;

/** The fewest steps found that break the same promise: halves are taken out, then smaller and smaller parts. */
export function shrinkCase(failed: FuzzCase, failure: FuzzFailure): FuzzCase {
  const promise = promiseOf(failure);
  let best: FuzzCase = { ...failed, steps: failed.steps.slice(0, failure.at + 1) };
  let tries = 0;
  for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < best.steps.length && tries < TRIES_MAX;) {
      const steps = best.steps.toSpliced(from, size);
      tries++;
      const again = runCase({ ...best, steps }).failure;
      if (again !== null && promiseOf(again) === promise) best = { ...best, steps: steps.slice(0, again.at + 1) };
      else from += size;
    }
  }
  return best;
}

/** Two failures break the same promise when they say the same but for names and numbers. */
const promiseOf = ({ reason }: FuzzFailure): string => (reason.split(/[:\n]/u)[0] ?? '').replaceAll(/\d+/gu, '0');

const TEXT_CHARS_MAX = 600;

export function describeCase(shrunk: FuzzCase, { reason }: FuzzFailure): string {
  const { seed, number, target, stage, steps } = shrunk;
  return [
    `${target.name}, from ${stage}: ${reason}`,
    ...steps.map((step) => (step.kind === 'act' ? `  ${step.name} ${step.value.toFixed(3)}` : `  ${frameText(step)}`)),
    `again: npm run fuzz -- --seed ${seed} --target ${target.name} --case ${number}`,
  ].join('\n');
}

function frameText({ text, binary }: FuzzFrame): string {
  if (binary === undefined) return `frame ${shown(text)}`;
  const { data, lengthBy, lost } = binary;
  return `binary frame of ${shown(text)} and ${data.length} bytes, its length wrong by ${lengthBy}, without its last ${lost}`;
}

function shown(text: string | null): string {
  if (text === null) return '(binary)';
  const json = JSON.stringify(text);
  return json.length > TEXT_CHARS_MAX ? `${json.slice(0, TEXT_CHARS_MAX)}... (${text.length} characters)` : json;
}
