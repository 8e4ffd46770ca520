import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Logger } from 'pino';
import { ExampleReply, sentenceOf, type Actor, type Demonstration, type Experience, type RunId } from '#proto';
import { constellationOfTools, validateConstellation, type Run } from '#libs/constellation';
import type { RunLog } from '#libs/event-log';
import { refused } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { loadEndedRun, NO_MODEL } from './ended-run.adapter.js';
import {
  ExperiencesAwayError,
  type ExperienceSearch,
  type ExperienceStore,
  type LearntExperience,
  exampleWithoutSecrets,
  type Origin,
} from '../experience/index.js';
import { OncePerRun, orderedBy, type MadeFact, type Learner } from './once-per-run.handler.js';
import { type PlanCommits, recorded, computed, PlannerFault, wellFormed } from '../rounds/index.js';
import { EXPERIENCE_AGENT, ReflectionError, type Reflected, type Reflection } from './reflection.runner.js';

export interface LearningParts {
  readonly runs: RunLog;
  readonly commits: PlanCommits;
  readonly store: ExperienceStore;
  /** Null: no model is configured. */
  readonly reflection: Reflection | null;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after an example was stored. */
  readonly learnt?: () => void;
}

interface Summary {
  readonly exampleId: string;
  readonly example: ExampleReply;
}

/**
 * Makes examples: of runs that went well, and of what people have shown. Of a run the fact comes first, then the row:
 *
 *   run ended ──model──► RUN_SUMMARISED in PLANS ──► row in PostgreSQL
 *                        found again, for nothing ──┘
 *
 * so a crash between the two, or a database that is away, is made up for by learning once more. What can be said no to is said as
 * a QueryRefusedError.
 */
export class LearningHandler {
  readonly #parts: LearningParts;
  readonly #summaries: OncePerRun<Summary>;
  /** Demonstrations that are being made into examples, by id. */
  readonly #shown = new Map<string, Promise<Experience>>();

  constructor(parts: LearningParts) {
    this.#parts = parts;
    this.#summaries = new OncePerRun(parts.commits, ({ example }) => example);
  }

  /** The run's example: the one that is there, or a new one. Its id is the run's. */
  learn(runId: RunId, asker: Learner): Promise<Experience> {
    return this.#answered(async () => {
      const known = await this.#parts.store.find(runId);
      if (known !== null) return known;
      const { value } = await this.#summaries.of(runId, () => this.#summarise(runId, asker));
      const learnt = this.#experience(value, { kind: 'experience', source: runId, by: asker.actor });
      return this.#add({ ...learnt, calls: [], templates: [] });
    });
  }

  /** The same demonstration is the same example, no matter which run shows it. */
  demonstrate(demonstration: Demonstration, by: Actor): Promise<Experience> {
    const id = idOf(demonstration);
    const shown = this.#shown.get(id) ?? this.#answered(() => this.#demonstrate(id, demonstration, by));
    this.#shown.set(id, shown);
    return shown.finally(() => this.#shown.delete(id));
  }

  /** Takes an example away from those that are shown. That a run was made into one stays recorded in its plan chain. */
  forget(id: string): Promise<boolean> {
    return this.#answered(() => this.#parts.store.remove(id));
  }

  experiences(search: ExperienceSearch = {}): Promise<Experience[]> {
    return this.#answered(() => this.#parts.store.list(search));
  }

  async #summarise(runId: RunId, asker: Learner): Promise<MadeFact<Summary>> {
    const { run } = await loadEndedRun(this.#parts.runs, runId, 'learnt from');
    const goal = run.request?.goal ?? null;
    if (run.outcome !== 'succeeded') {
      throw refused('INVALID_STATE', `The run ${runId} did not succeed; only from one that did can be learnt.`);
    }
    if (goal === null) {
      throw refused('INVALID_STATE', `The run ${runId} had no goal in words, so it is an example for nothing.`);
    }
    const { value, calls, templates } = await this.#reflection().ask({
      agent: EXPERIENCE_AGENT,
      schema: ExampleReply,
      turn: `${runId}.experience`,
      prompt: (prompter, fenceBoundary) => prompter.experience({ fenceBoundary, goal, run }),
      check: problemsOf,
    });
    const example = keepable(value, { results: resultsOf(run), said: saidIn(run, goal) });
    return {
      value: { exampleId: runId, example },
      event: { type: 'RUN_SUMMARISED', data: { ...recorded({ calls, templates }), exampleId: runId, example } },
      causes: [orderedBy('learn', asker)],
    };
  }

  async #demonstrate(id: string, demonstration: Demonstration, by: Actor): Promise<Experience> {
    const known = await this.#parts.store.find(id);
    if (known !== null) return known;
    const { value, calls, templates }: Reflected<ExampleReply> = await this.#reflection().ask({
      agent: EXPERIENCE_AGENT,
      schema: ExampleReply,
      turn: `${id}.demonstration`,
      prompt: (prompter, fenceBoundary) => prompter.demonstration({ fenceBoundary, demonstration }),
      check: problemsOf,
    });
    const { name, request, steps } = demonstration;
    const results = steps.flatMap(({ result }) => (result === undefined ? [] : [result]));
    const example = keepable(value, { results, said: [request, ...steps.flatMap(({ device }) => device ?? [])] });
    const learnt = this.#experience({ exampleId: id, example }, { kind: 'demonstration', source: name, by });
    return this.#stored({ ...learnt, calls, templates });
  }

  #experience(
    { exampleId, example }: Summary,
    { kind, source, by }: { kind: Experience['kind']; source: string; by: Actor },
  ): Experience {
    const learntAt = new Date(this.#parts.clock.now()).toISOString();
    return { id: exampleId, kind, ...example, source, learntBy: by.id, learntAt };
  }

  async #add(learnt: LearntExperience): Promise<Experience> {
    try {
      return await this.#stored(learnt);
    } catch (error) {
      if (!(error instanceof ExperiencesAwayError)) throw error;
      const message = 'The example is recorded with the run, but PostgreSQL went away; ask again, no model is needed.';
      throw refused('TRY_AGAIN', message);
    }
  }

  async #stored(learnt: LearntExperience): Promise<Experience> {
    const stored = await this.#parts.store.add(learnt);
    this.#parts.learnt?.();
    return stored;
  }

  #reflection(): Reflection {
    const { reflection } = this.#parts;
    if (reflection === null) throw refused('INVALID_STATE', NO_MODEL);
    return reflection;
  }

  /** What goes wrong outside of us, as people are told. */
  async #answered<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ExperiencesAwayError) throw refused('TRY_AGAIN', error.message);
      if (!(error instanceof ReflectionError) && !(error instanceof PlannerFault)) throw error;
      this.#parts.logger.warn({ err: error }, 'an example could not be made');
      throw refused('TRY_AGAIN', `No example could be made: ${error.message}`);
    }
  }
}

/** What is wrong with a plan that the schema lets through: one that could not run is no example. */
function problemsOf({ constellation }: ExampleReply): string[] {
  const made = constellationOfTools(constellation, 'example');
  const issues = made.ok ? validateConstellation(made.constellation) : made.issues;
  return issues.map((issue) => `constellation.${sentenceOf(issue)}`);
}

/** The example as it may be kept. What was taken out of it must not have broken it. */
function keepable(reply: ExampleReply, origin: Origin): ExampleReply {
  const example = computed('take out what looks like a secret', () =>
    exampleWithoutSecrets(ExampleReply.parse(wellFormed(reply)), origin),
  );
  const [problem] = problemsOf(example);
  if (problem === undefined) return example;
  throw new ReflectionError('EXAMPLE_UNUSABLE', `without what looks like a secret it is no plan any more: ${problem}`);
}

/** What devices said: results, errors and notes of agents. */
function resultsOf({ tasks, blackboard }: Run): string[] {
  const said = [...tasks].flatMap(({ result, error }) => [result?.value, error?.message]);
  return [...said, ...blackboard].flatMap((text) => (text === undefined ? [] : [JSON.stringify(text)]));
}

/** What is no secret of a device, because it was said before one answered: the goal, and where its tasks ran. */
function saidIn({ tasks }: Run, goal: string): string[] {
  return [goal, ...[...tasks].flatMap(({ deviceId, star }) => [star.id, ...(deviceId === null ? [] : [deviceId])])];
}

const ID_CHARS = 26;

/** The same for the same content, for ever. */
function idOf(demonstration: Demonstration): string {
  const text = canonicalize(wellFormed(demonstration)) ?? '';
  return `d${createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, ID_CHARS - 1)}`;
}
