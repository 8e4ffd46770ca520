import type { z } from 'zod';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { commandIdOf } from './ids.js';
import {
  FilePath,
  FilePattern,
  filePatternOf,
  isPlainPath,
  matchesGlob,
  mayHoldMatches,
  WorkspaceInInput,
  workspaceCommandIdOf,
} from './files.js';

const SEED = 20_261_123;
const takes = (schema: z.ZodType, text: string): boolean => schema.safeParse(text).success;

describe('a path of a file', () => {
  it.each(['a', 'report.csv', 'logs/web 1/x.log', 'Überblick/a+b@c=d,e (1).txt', `${'d/'.repeat(16)}f`])(
    'may be %s',
    (path) => expect(takes(FilePath, path)).toBe(true),
  );

  it.each([
    '',
    '.',
    '..',
    '/etc/passwd',
    'a/../b',
    '../a',
    'a//b',
    'a/',
    './a',
    '.ssh/key',
    '-rf',
    'a\0b',
    'a\nb',
    'a\\b',
    'a:b',
    '~/a',
    '$HOME',
    'a;b',
    'a*',
    'a?',
    'a\u202eb',
    'a\u200bb',
    `${'d/'.repeat(17)}f`,
    'x'.repeat(129),
    `${'dddddddddd/'.repeat(60)}f`,
  ])('may not be %j', (path) => expect(takes(FilePath, path)).toBe(false));

  it('never leads out of its directory, whatever it is made of', () =>
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '.', '/', '\\', '*', '\0', ' ', '-', '~') }), (path) => {
        if (!takes(FilePath, path)) return;
        expect(path.split('/').every((part) => /^[a]/u.test(part))).toBe(true);
      }),
      { seed: SEED },
    ));
});

describe('a pattern of files', () => {
  it.each(['a', '*', '**', 'logs/*.log', '**/*.csv', 'a/**/b?c', 'report.csv?', '**?', '?'.repeat(3)])(
    'may be %s',
    (pattern) => expect(takes(FilePattern, pattern)).toBe(true),
  );

  it.each([
    '',
    '?',
    '/a',
    '../*',
    '*/..',
    'a//b',
    '***',
    'a**',
    '**a',
    '{a,b}',
    '[ab]',
    '!a',
    '.*',
    'a\0',
    '*'.repeat(257),
  ])('may not be %j', (pattern) => expect(takes(FilePattern, pattern)).toBe(false));

  it('says with a ? at its end that there may be none', () => {
    expect(filePatternOf('a.csv?')).toEqual({ glob: 'a.csv', isOptional: true });
    expect(filePatternOf('a?.csv')).toEqual({ glob: 'a?.csv', isOptional: false });
    expect([isPlainPath('a/b'), isPlainPath('a/*'), isPlainPath('a?b')]).toEqual([true, false, false]);
  });
});

describe('a glob', () => {
  it.each([
    ['a', 'a'],
    ['*', 'a'],
    ['*.log', 'web.1.log'],
    ['a*b*c', 'a-b-b-c'],
    ['a?c', 'aüc'],
    ['logs/*.log', 'logs/x.log'],
    ['**', 'a'],
    ['**', 'a/b/c'],
    ['logs/**', 'logs/a/b'],
    ['**/x', 'x'],
    ['**/x', 'a/b/x'],
    ['a/**/b/**/c', 'a/b/b/x/c'],
  ])('%s means %s', (glob, path) => expect(matchesGlob(path, glob)).toBe(true));

  it.each([
    ['a', 'A'],
    ['*', 'a/b'],
    ['*.log', 'a/b.log'],
    ['a?c', 'ac'],
    ['logs/**', 'logs'],
    ['**/x', 'a/x/y'],
    ['a/**/b', 'a/c'],
    ['*/**', 'a'],
    ['**', '.git/config'],
    ['*', '.bashrc'],
  ])('%s does not mean %s', (glob, path) => expect(matchesGlob(path, glob)).toBe(false));

  const part = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 5 });
  const glob = fc
    .array(fc.oneof(part, fc.constant('**')), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/'));
  const path = fc
    .array(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/'));

  it('means what the regular expression of the same words means', () =>
    fc.assert(
      fc.property(glob, path, (pattern, file) =>
        expect(matchesGlob(file, pattern)).toBe(expressionOf(pattern).test(file)),
      ),
      { seed: SEED, numRuns: 2_000 },
    ));

  it('leads into each directory that holds what it means', () =>
    fc.assert(
      fc.property(glob, path, (pattern, file) => {
        fc.pre(matchesGlob(file, pattern));
        const names = file.split('/').slice(0, -1);
        for (const [index] of names.entries()) {
          expect(mayHoldMatches(names.slice(0, index + 1).join('/'), pattern)).toBe(true);
        }
      }),
      { seed: SEED, numRuns: 2_000 },
    ));

  it('does not lead where nothing is that it could mean', () => {
    expect(mayHoldMatches('node_modules', 'logs/*.log')).toBe(false);
    expect(mayHoldMatches('logs/old', 'logs/*.log')).toBe(false);
    expect(mayHoldMatches('a', '*.log')).toBe(false);
  });

  it('takes no longer for stars that nothing ends', () => {
    const stars = `${'*a'.repeat(60)}*b`;
    expect(matchesGlob('a'.repeat(500), stars)).toBe(false);
    expect(matchesGlob(Array(200).fill('a').join('/'), `${'**/a/'.repeat(40)}b`)).toBe(false);
  });
});

function expressionOf(glob: string): RegExp {
  const parts = glob.split('/');
  if (parts.at(-1) === '**') parts.push('*');
  const last = parts.length - 1;
  const text = parts.map((part, index) =>
    part === '**' ? '(?:[^/]+/)*' : part.replaceAll('?', '[^/]').replaceAll('*', '[^/]*') + (index < last ? '/' : ''),
  );
  return new RegExp(`^${text.join('')}$`, 'u');
}

describe('the commands that move files', () => {
  it('have ids that no exact command and no step of an agent has', () => {
    const attempt = { runId: 'r', taskId: 't', attempt: 1 };
    const ids = [
      commandIdOf(attempt),
      workspaceCommandIdOf(attempt, 'WORKSPACE_IN'),
      workspaceCommandIdOf(attempt, 'WORKSPACE_OUT'),
    ];
    expect(new Set(ids).size).toBe(3);
    expect(ids[1]).not.toBe(commandIdOf(attempt, 1, 0));
  });

  it('move no more than four GiB at a time', () => {
    const file = (path: string) => ({ path, sha256: 'a'.repeat(64), bytes: 2 ** 30, mode: '644' });
    const paths = ['a', 'b', 'c', 'd', 'e'];
    expect(WorkspaceInInput.safeParse({ files: paths.slice(1).map(file) }).success).toBe(true);
    expect(WorkspaceInInput.safeParse({ files: paths.map(file) }).success).toBe(false);
  });
});
