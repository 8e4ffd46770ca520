import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { z } from 'zod';
import { issueWords } from '#proto';
import { SecretKey } from './secret-key.js';
import { makeSettings, ModelFile, ModelSettingsError, type KeySource, type ModelSettingsBook } from './settings.js';

const FILE_CHARS_MAX = 256 * 1024;
const ALIASES_MAX = 100;

type Environment = Readonly<Record<string, string | undefined>>;

/** A variable that says in which file the value of this one lies: an environment is read more easily by others than a file. */
const fileVariable = (name: string): string => `${name}_FILE`;

/**
 * Settings from `ORRERY_MODEL_FILE`, `OPENAI_BASE_URL`, `OPENAI_API_KEY` or `OPENAI_API_KEY_FILE`, `ORRERY_MODEL` and
 * `ORRERY_EMBEDDING_MODEL`; null when no model is configured. Keys are read here, once. Throws ModelSettingsError.
 */
export function loadModelSettings(environment: Environment): ModelSettingsBook | null {
  const given = (name: string) => (environment[name] === '' ? undefined : environment[name]);
  const path = given('ORRERY_MODEL_FILE');
  const model = given('ORRERY_MODEL');
  const baseUrl = given('OPENAI_BASE_URL');
  if (path === undefined && model === undefined) return null;
  const embeddingModel = given('ORRERY_EMBEDDING_MODEL');
  const file = parseFile(path === undefined ? {} : readFile(path), path ?? 'ORRERY_MODEL');
  const own = { ...(baseUrl !== undefined && { baseUrl }), ...(model !== undefined && { model }) };
  if (baseUrl !== undefined) parseFile({ default: own }, 'OPENAI_BASE_URL');
  const hasKey = given('OPENAI_API_KEY') !== undefined || given(fileVariable('OPENAI_API_KEY')) !== undefined;
  const environmentSays = { ...own, ...(embeddingModel !== undefined && { embeddingModel }), hasKey };
  return makeSettings(file, environmentSays, (source, where) => readKey(source, where, given));
}

function readFile(path: string): unknown {
  const text = attempt(() => readFileSync(path, 'utf8'), `ORRERY_MODEL_FILE: ${path} cannot be read`);
  if (text.length > FILE_CHARS_MAX) {
    throw new ModelSettingsError(`${path} is longer than ${FILE_CHARS_MAX} characters; settings of models are not.`);
  }
  return attempt((): unknown => parse(text, { maxAliasCount: ALIASES_MAX }) ?? {}, `${path} is not YAML`);
}

function parseFile(content: unknown, place: string): ModelFile {
  const parsed = ModelFile.safeParse(content, { error: issueWords });
  if (parsed.success) return parsed.data;
  throw new ModelSettingsError(parsed.error.issues.map((issue) => sentence(issue, place)).join(' '));
}

function sentence({ path, message }: z.core.$ZodIssue, place: string): string {
  const where = path.length === 0 ? place : `${place}: ${path.map(String).join('.')}`;
  const said = message.replace(/^[A-Z]/u, (first) => first.toLowerCase());
  return `${where} ${said}${/[.?]$/u.test(said) ? '' : '.'}`;
}

function readKey(source: KeySource, where: string, given: (name: string) => string | undefined): SecretKey {
  if ('env' in source) {
    const key = given(source.env)?.trim();
    if (key !== undefined && key !== '') return headerSafe(key, `${where}.env`, source.env);
    const file = given(fileVariable(source.env));
    if (file !== undefined) return readKeyFile(file, `${where}.env`);
    throw new ModelSettingsError(`${where}.env names the variable ${source.env}, which is not set.`);
  }
  return readKeyFile(source.file, `${where}.file`);
}

function readKeyFile(file: string, where: string): SecretKey {
  const key = attempt(() => readFileSync(file, 'utf8'), `${where}: ${file} cannot be read`).trim();
  if (key !== '') return headerSafe(key, where, file);
  throw new ModelSettingsError(`${where} names ${file}, which is empty.`);
}

/** What no header can carry would fail at the first call, with the key in the message. */
function headerSafe(key: string, where: string, name: string): SecretKey {
  if (/^[\x21-\x7e]+$/u.test(key)) return new SecretKey(key);
  throw new ModelSettingsError(`${where} names ${name}, which holds no key: a key is one word of printable ASCII.`);
}

/** What the system says about a file names its path and nothing of its content; a parser's message may show a key. */
function attempt<T>(act: () => T, complaint: string): T {
  try {
    return act();
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? ` (${String(error.code)})` : '';
    throw new ModelSettingsError(`${complaint}${code}.`);
  }
}
