import type { z } from 'zod';
import { issueLines } from './issue-words.js';
import { pathOf } from './path.js';
import type { Issue } from './request.js';

export type Parsed<T> = { ok: true; value: T } | { ok: false; issues: Issue[] };

const ISSUES_MAX = 20;

/** Parses unknown input at an edge; a failure names the path of each offending field and what would be valid. */
export function parseWith<T>(schema: z.ZodType<T>, input: unknown): Parsed<T> {
  const parsed = schema.safeParse(input, { error: issueLines });
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, issues: parsed.error.issues.slice(0, ISSUES_MAX).flatMap(issueOf) };
}

function issueOf(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code === 'unrecognized_keys') {
    const words = issue.message.split('\n');
    return issue.keys
      .slice(0, ISSUES_MAX)
      .map((key, index) => ({ path: pathOf([...issue.path, key]), message: words[index] ?? 'unknown field' }));
  }
  return [{ path: pathOf(issue.path), message: issue.message }];
}

/** One sentence for people: `constellation.tasks[0].target: a target is ...`. */
export function sentenceOf({ path, message }: Issue): string {
  return path === '' ? message : `${path}: ${message}`;
}
