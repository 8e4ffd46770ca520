import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import {
  TemplateBook,
  TemplateError,
  type PromptExamples,
  type PromptTemplate,
  type PromptTemplates,
} from '#libs/prompter';
import { parseWith, sentenceOf, type LoadedPrompt } from '#proto';
import { ExamplesFile, PROMPT_LIMITS, TemplateFile } from './prompt-file.js';

/** One file as it was read. */
export interface PromptText {
  readonly file: string;
  readonly sha256: string;
  readonly text: string;
}

/** What prompts are made of, and the files that it stands in. */
export interface LoadedPrompts extends PromptTemplates {
  readonly files: readonly PromptText[];
}

/** A file of prompts that cannot be used: which one, where in it, and what would be valid. */
export class PromptFileError extends Error {
  constructor(
    readonly file: string,
    readonly problems: readonly string[],
  ) {
    super(`the prompts in ${file} cannot be used: ${problems.join('; ')}`);
    this.name = 'PromptFileError';
  }
}

/**
 * Reads all prompts: `prompts/` of this installation, or the directory in ORRERY_PROMPTS_DIR, or the one given. The id of a
 * template is the path of its file without the ending; its hash is the SHA-256 of the file's bytes, as `sha256sum` gives it.
 */
export async function loadPrompts(directory: string = promptsDirectory()): Promise<LoadedPrompts> {
  const files = await yamlFiles(directory);
  const templates: PromptTemplate[] = [];
  const examples: PromptExamples[] = [];
  const texts: PromptText[] = [];
  for (const file of files) {
    const { bytes, hash } = await contentOf(directory, file);
    texts.push({ file, sha256: hash, text: bytes.toString('utf8') });
    const id = file.replace(ENDING, '');
    const [, mode, name] = EXAMPLES.exec(id) ?? [];
    if (name !== undefined) {
      const parsed = parsedAs(ExamplesFile, file, bytes);
      examples.push({ id: `examples/${name}`, mode: modeOf(mode), hash, examples: parsed.examples });
    } else {
      templates.push(...templatesOf(id, hash, parsedAs(TemplateFile, file, bytes)));
    }
  }
  const prompts = { templates, examples, files: texts };
  checkTemplates(directory, prompts);
  return prompts;
}

/** The files as they are told to who asks what is loaded. */
export const loadedPrompts = (files: readonly PromptText[]): LoadedPrompt[] =>
  files.map(({ file, sha256, text }) => ({ file, sha256, bytes: Buffer.byteLength(text) }));

/** The directory that counts when none is given. */
export function promptsDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const chosen = environment['ORRERY_PROMPTS_DIR'];
  if (chosen !== undefined && chosen !== '') return chosen;
  // Sources and the build lie at different depths: the root is where the package begins.
  for (let place = dirname(fileURLToPath(import.meta.url)); place !== dirname(place); place = dirname(place)) {
    if (existsSync(join(place, 'package.json'))) return join(place, 'prompts');
  }
  throw new PromptFileError('prompts', [
    'there is no such directory beside package.json; name one in ORRERY_PROMPTS_DIR',
  ]);
}

const ENDING = /\.ya?ml$/u;
/** Reviewed plans lie beside the prompts; nothing of them is shown to a model as a template. */
const RUNBOOKS = 'runbooks/';
/** Examples that do not lie in a directory for a mode are for both. */
const EXAMPLES = /^examples\/(?:(visual|nonvisual)\/)?(.+)$/u;
const modeOf = (mode: string | undefined): PromptExamples['mode'] =>
  mode === 'visual' || mode === 'nonvisual' ? mode : 'any';

async function yamlFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true }).catch((error: unknown) => {
    throw new PromptFileError(directory, [`the directory cannot be read (${codeOf(error)})`]);
  });
  const files = entries
    .map((entry) => entry.replaceAll('\\', '/'))
    .filter((entry) => ENDING.test(entry) && !entry.startsWith(RUNBOOKS));
  if (files.length === 0) throw new PromptFileError(directory, ['there is no .yaml file in the directory']);
  if (files.length > PROMPT_LIMITS.filesMax) {
    throw new PromptFileError(directory, [`there are ${files.length} files; ${PROMPT_LIMITS.filesMax} are allowed`]);
  }
  return files.sort();
}

async function contentOf(directory: string, file: string): Promise<{ bytes: Buffer; hash: string }> {
  const bytes = await readFile(join(directory, file)).catch((error: unknown) => {
    throw new PromptFileError(file, [`the file cannot be read (${codeOf(error)})`]);
  });
  if (bytes.length > PROMPT_LIMITS.fileBytesMax) {
    throw new PromptFileError(file, [`it has ${bytes.length} bytes; ${PROMPT_LIMITS.fileBytesMax} are allowed`]);
  }
  return { bytes, hash: createHash('sha256').update(bytes).digest('hex') };
}

function parsedAs<T>(schema: z.ZodType<T>, file: string, bytes: Buffer): T {
  const parsed = parseWith(schema, fromYaml(file, bytes.toString('utf8')));
  if (parsed.ok) return parsed.value;
  throw new PromptFileError(file, parsed.issues.map(sentenceOf));
}

function fromYaml(file: string, text: string): unknown {
  const document = parseDocument(text, { prettyErrors: true });
  const [wrong] = document.errors;
  if (wrong !== undefined) throw new PromptFileError(file, [wrong.message.split('\n', 1)[0] ?? 'it is not YAML']);
  try {
    return document.toJS({ maxAliasCount: PROMPT_LIMITS.aliasesMax });
  } catch {
    throw new PromptFileError(file, [`its aliases stand for more than ${PROMPT_LIMITS.aliasesMax} nodes`]);
  }
}

function templatesOf(id: string, hash: string, file: TemplateFile): PromptTemplate[] {
  return (['visual', 'nonvisual', 'any'] as const).flatMap((mode) => {
    const parts = file[mode];
    return parts === undefined ? [] : [{ id, mode, hash, parts }];
  });
}

/** A template that is not valid is found when prompts are loaded, not when an agent needs it. */
function checkTemplates(directory: string, prompts: PromptTemplates): void {
  try {
    void new TemplateBook(prompts);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new PromptFileError(join(directory, `${error.templateId}.yaml`), [error.message]);
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);
