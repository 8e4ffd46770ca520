import { parseDocument } from 'yaml';
import { sentenceOf, type Issue } from '#proto';
import { messageOf } from '../terminal/index.js';

/** An alias is a small text that stands for a large one: this many are a plan, more are an attack on the memory. */
const ALIASES_MAX = 100;

const ISSUES_SHOWN_MAX = 5;

type TextParsed = { ok: true; value: unknown } | { ok: false; message: string };

/** JSON or YAML, by its first character; `what` names it in a refusal. */
export function parseText(text: string, what: string): TextParsed {
  const content = text.replace(/^\uFEFF/u, '');
  if (content.trim() === '') return { ok: false, message: `the ${what} is empty` };
  return /^\s*[[{]/u.test(content) ? parseJson(content) : parseYaml(content);
}

/** `tasks[0].target: a target is ...; and 3 more`. */
export function sentencesOf(issues: readonly Issue[]): string {
  const more = issues.length - ISSUES_SHOWN_MAX;
  const shown = issues.slice(0, ISSUES_SHOWN_MAX).map(sentenceOf);
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function parseJson(text: string): TextParsed {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, message: `this is not JSON: ${messageOf(error)}` };
  }
}

function parseYaml(text: string): TextParsed {
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
