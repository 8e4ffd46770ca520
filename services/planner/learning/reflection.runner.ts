import type { z } from 'zod';
import type { ModelCall } from '#proto';
import type { ModelDesk } from '#libs/llm';
import type { PlannerPrompt, PlannerPrompter } from '#libs/planner';
import { BoundaryTaken } from '#libs/prompter';
import { computed } from '../rounds/index.js';

/** All tries together. Nobody's work waits for it. */
const ASK_MS_MAX = 5 * 60 * 1_000;
const BOUNDARY_TRIES = 3;

/** The agents of finished work; their models are chosen by these names. */
export const EVALUATION_AGENT = 'EvaluationAgent';
export const EXPERIENCE_AGENT = 'ExperienceAgent';

/** What was said, and what it was asked with. */
export interface Reflected<T> {
  readonly value: T;
  readonly calls: ModelCall[];
  readonly templates: { id: string; hash: string }[];
}

/** No model gave a reply that can be used. */
export class ReflectionError extends Error {
  override readonly name = 'ReflectionError';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Reflecting<T> {
  readonly agent: string;
  readonly schema: z.ZodType<T>;
  /** Names the conversation, the same in every repeat. */
  readonly turn: string;
  readonly prompt: (prompter: ReflectionPrompter, fenceBoundary: string) => PlannerPrompt;
  readonly check?: (value: T) => readonly string[];
}

export type ReflectionPrompter = Pick<PlannerPrompter, 'evaluation' | 'experience' | 'demonstration'>;

export interface ReflectionParts {
  readonly desk: ModelDesk;
  readonly prompter: ReflectionPrompter;
  /** A text that nobody could guess, for the fences of a prompt. */
  readonly random: () => string;
  /** Aborted when this replica stops. */
  readonly signal: AbortSignal;
}

/** Asks a model about what is over: runs that have ended, and what people have done by hand. */
export class Reflection {
  readonly #parts: ReflectionParts;

  constructor(parts: ReflectionParts) {
    this.#parts = parts;
  }

  /** Throws ReflectionError when there is no usable reply. */
  async ask<T>({ agent, schema, turn, prompt: promptOf, check }: Reflecting<T>): Promise<Reflected<T>> {
    const { desk, signal } = this.#parts;
    const prompt = computed('make a prompt', () => this.#fenced(promptOf));
    const answered = await desk.ask({
      agent,
      prompt,
      schema,
      ...(check !== undefined && { check }),
      signal,
      deadlineMs: ASK_MS_MAX,
      turn,
      mayCall: () => null,
    });
    if (answered.kind === 'failed') throw new ReflectionError(answered.code, answered.message);
    const templates = prompt.templates.map(({ id, hash }) => ({ id, hash }));
    return { value: answered.value, calls: answered.calls, templates };
  }

  /** A boundary that stands in some text already, which nobody could have known, is simply not used. */
  #fenced(promptOf: Reflecting<unknown>['prompt']): PlannerPrompt {
    const { prompter, random } = this.#parts;
    for (let tries = 1; ; tries++) {
      try {
        return promptOf(prompter, random());
      } catch (error) {
        if (!(error instanceof BoundaryTaken) || tries === BOUNDARY_TRIES) throw error;
      }
    }
  }
}
