import { parseDocument } from 'yaml';
import { LIMITS, parseWith, RunRequest, sentenceOf } from '#proto';
import type { Issue } from '#proto';
import { messageOf } from './errors.js';

/** An alias is a small text that stands for a large one: this many are a plan, more are an attack on the memory. */
const ALIASES_MAX = 100;
const ISSUES_SHOWN_MAX = 5;

export type RequestFile =
  | {
      readonly ok: true;
      readonly request: RunRequest;
      /** The text was a constellation alone. */ readonly bare: boolean;
    }
  | { readonly ok: false; readonly message: string; readonly issues: readonly Issue[] };

/**
 * Reads what a person wrote, JSON or YAML, a request or a bare constellation, into a request. `requestId` is taken when
 * the text has none; given explicitly (`override`), it wins.
 */
export function parseRequestText(text: string, requestId: string, override = false): RequestFile {
  const bytes = Buffer.byteLength(text);
  if (bytes > LIMITS.requestBytesMax) {
    return refused(`the request has ${bytes} bytes; at most ${LIMITS.requestBytesMax} are accepted`);
  }
  const document = parseText(text);
  if (!document.ok) return refused(document.message);
  const { value } = document;
  if (!isObject(value)) {
    return refused(
      'the request must be an object: a request with "goal" or "constellation", or a constellation with "tasks"',
    );
  }
  const bare = isBareConstellation(value);
  const named = bare
    ? { requestId, constellation: value }
    : { requestId, ...value, ...(override ? { requestId } : {}) };
  const parsed = parseWith(RunRequest, named);
  if (parsed.ok) return { ok: true, request: parsed.value, bare };
  const issues = bare
    ? parsed.issues.map(({ path, message }) => ({ path: withoutPrefix(path), message }))
    : parsed.issues;
  return refused(sentencesOf(issues), issues);
}

/** `tasks[0].target: a target is ...; and 3 more`. */
export function sentencesOf(issues: readonly Issue[]): string {
  const more = issues.length - ISSUES_SHOWN_MAX;
  const shown = issues.slice(0, ISSUES_SHOWN_MAX).map(sentenceOf);
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function isBareConstellation(value: object): boolean {
  return 'tasks' in value && !('goal' in value) && !('constellation' in value);
}

function parseText(text: string): { ok: true; value: unknown } | { ok: false; message: string } {
  const content = text.replace(/^\uFEFF/u, '');
  if (content.trim() === '') return { ok: false, message: 'the request is empty' };
  return /^\s*[[{]/u.test(content) ? parseJson(content) : parseYaml(content);
}

function parseJson(text: string): { ok: true; value: unknown } | { ok: false; message: string } {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, message: `this is not JSON: ${messageOf(error)}` };
  }
}

function parseYaml(text: string): { ok: true; value: unknown } | { ok: false; message: string } {
  try {
    const document = parseDocument(text, { stringKeys: true, prettyErrors: true, logLevel: 'error' });
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem !== undefined) return { ok: false, message: `this is not YAML: ${firstLine(problem.message)}` };
    return { ok: true, value: document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown };
  } catch (error) {
    return {
      ok: false,
      message: `this is not YAML: ${firstLine(messageOf(error))}`,
    };
  }
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').replace(/:$/u, '');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutPrefix(path: string): string {
  return path.replace(/^constellation\.?/u, '');
}

function refused(message: string, issues: readonly Issue[] = []): RequestFile {
  return { ok: false, message, issues };
}
