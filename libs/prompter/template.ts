import { Liquid, type Template } from 'liquidjs';
import type { PromptExample } from './documents.js';

/** `visual`: for models that see images. */
export type PromptMode = 'visual' | 'nonvisual';

/** One text of ours: `id` and `mode` name it, `hash` is the SHA-256 of the file it stands in. */
export interface PromptTemplate {
  readonly id: string;
  /** `any`: for both. */
  readonly mode: PromptMode | 'any';
  readonly hash: string;
  /** Liquid texts by name, e.g. `system` and `user`. */
  readonly parts: Readonly<Record<string, string>>;
}

/** Examples that are shown to a model. */
export interface PromptExamples {
  readonly id: string;
  readonly mode: PromptMode | 'any';
  readonly hash: string;
  readonly examples: readonly PromptExample[];
}

/** All texts that prompts are made of. Pure data: its loader answers for its hashes. */
export interface PromptTemplates {
  readonly templates: readonly PromptTemplate[];
  readonly examples: readonly PromptExamples[];
}

export interface TemplateUse {
  readonly id: string;
  readonly hash: string;
}

/** What the parts of a template may do: choose, repeat, and include shared parts. Nothing that reads a file or a clock. */
const TAGS = ['if', 'unless', 'for', 'include', 'comment'] as const;
const FILTERS = ['size', 'join', 'default'] as const;

/**
 * Renders templates by id and mode. Values are put in as they are: they are no templates, and nothing in them is escaped.
 * A shared part is put in with `{% include 'shared/data' %}`: the id of a template for any mode, a slash, the name of the part.
 * Throws TemplateError for a part that is not valid, and for a variable that nobody gave.
 */
export class TemplateBook {
  readonly #engine: Liquid;
  readonly #parsed = new Map<string, Template[]>();

  readonly #source: PromptTemplates;

  constructor(source: PromptTemplates) {
    this.#source = source;

    const shared = source.templates.filter(({ mode }) => mode === 'any');
    const partials = shared.flatMap(({ id, parts }) =>
      Object.entries(parts).map(([part, text]) => [`${id}/${part}`, text] as const),
    );
    this.#engine = bareEngine(Object.fromEntries(partials));
    for (const template of source.templates) this.#parse(template);
  }

  /** The template of that id for the mode, for any mode, or without images. */
  template(id: string, mode: PromptMode): PromptTemplate {
    return pick(this.#source.templates, { id, mode, what: 'template' });
  }

  examples(id: string, mode: PromptMode): PromptExamples {
    return pick(this.#source.examples, { id, mode, what: 'set of examples' });
  }

  render({ id, mode, parts }: PromptTemplate, part: string, values: Readonly<Record<string, unknown>>): string {
    const parsed = this.#parsed.get(keyOf(id, mode, part));
    if (parsed === undefined) {
      throw new TemplateError(id, part, `is missing; there are ${Object.keys(parts).join(', ')}`);
    }
    try {
      return String(this.#engine.renderSync(parsed, values));
    } catch (error) {
      throw new TemplateError(id, part, `cannot be rendered: ${firstLine(error)}`);
    }
  }

  /** A template and those whose parts it includes, for the record. */
  uses(template: PromptTemplate): TemplateUse[] {
    const found = new Map<string, TemplateUse>();
    const visit = ({ id, hash, mode, parts }: PromptTemplate): void => {
      if (found.has(id)) return;
      found.set(id, { id: mode === 'any' ? id : `${id}.${mode}`, hash });
      for (const text of Object.values(parts)) {
        for (const [, name = ''] of text.matchAll(/\{%-?\s*include\s+['"]([^'"]+)\/[^'"/]+['"]/gu)) {
          const shared = this.#source.templates.find((other) => other.id === name && other.mode === 'any');
          if (shared !== undefined) visit(shared);
        }
      }
    };
    visit(template);
    return [...found.values()];
  }

  #parse({ id, mode, parts }: PromptTemplate): void {
    for (const [part, text] of Object.entries(parts)) {
      try {
        this.#parsed.set(keyOf(id, mode, part), this.#engine.parse(text));
      } catch (error) {
        throw new TemplateError(id, part, `is not a valid template: ${firstLine(error)}`);
      }
    }
  }
}

/** A template is wrong, or was asked for something that it does not have. */
export class TemplateError extends Error {
  constructor(
    readonly templateId: string,
    readonly part: string,
    what: string,
  ) {
    super(`prompt template ${templateId}, part ${part}: ${what}`);
    this.name = 'TemplateError';
  }
}

function bareEngine(templates: Record<string, string>): Liquid {
  const engine = new Liquid({
    templates,
    strictVariables: true,
    strictFilters: true,
    ownPropertyOnly: true,
    // Shared parts are parsed once, and not in every prompt.
    cache: true,
  });
  for (const tag of Object.keys(engine.tags)) if (!(TAGS as readonly string[]).includes(tag)) delete engine.tags[tag];
  for (const filter of Object.keys(engine.filters)) {
    if (!(FILTERS as readonly string[]).includes(filter)) delete engine.filters[filter];
  }
  return engine;
}

interface Named {
  readonly id: string;
  readonly mode: PromptMode | 'any';
}

function pick<T extends Named>(all: readonly T[], { id, mode, what }: Named & { readonly what: string }): T {
  const named = all.filter((one) => one.id === id);
  // A model that sees images can read as well; the other way round there is nothing to fall back on.
  const found = [mode, 'any', 'nonvisual'].flatMap((wanted) => named.filter((one) => one.mode === wanted)).at(0);
  if (found !== undefined) return found;
  const modes = named.map((one) => one.mode).join(', ');
  const hint = modes === '' ? `there are ${all.map((one) => one.id).join(', ')}` : `there is one for ${modes} only`;
  throw new TemplateError(id, mode, `there is no such ${what}; ${hint}`);
}

const keyOf = (...names: readonly string[]): string => names.join('\n');

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
