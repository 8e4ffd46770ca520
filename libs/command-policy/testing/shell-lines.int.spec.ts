import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { openBashGrammar, openPolicy, type CommandPolicy } from '../index.js';
import { ONE, SOME, type Glyphs } from '../words/path-pattern.js';
import { readPlain } from '../calls/plain-line.js';
import { shellLines } from './shell-lines.js';

const SEED = 20_261_122;
/** Lines that are tried; about a third of them runs unasked, each in two shells. */
const LINES = Number(process.env['ORRERY_SHELL_LINES'] ?? 260);
const NOBODY = 65_534;
/** Names that do harm where a pattern finds them. */
const FILES = ['a', 'ab', 'b', '-rf', '--help', 'x=1', 'touch', 'a;touch marker', 'a$(touch marker)', 'a b', '~'];
const STUBS =
  'ls cat wc touch timeout nice find env xargs sh bash printenv time hash mapfile let declare coproc shopt marker id'.split(
    ' ',
  );

let policy: CommandPolicy;
let root = '';
beforeAll(async () => {
  policy = openPolicy({}, await openBashGrammar());
  root = mkdtempSync(join(tmpdir(), 'orrery-shell-lines-'));
  mkdirSync(join(root, 'bin'));
  // Every program only writes down how it was called.
  const stub = join(root, 'stub');
  // In one piece: the programs of a pipe write at the same time.
  writeFileSync(stub, `#!/bin/sh\nprintf '%s\\0' "\${0##*/}" "$@" '\n' >> ${root}/log\n`);
  chmodSync(stub, 0o755);
  for (const name of STUBS) linkSync(stub, join(root, 'bin', name));
  chmodSync(root, 0o755);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What the shell started when it was given this line, in a fresh directory and without any right. */
function startedBy(shell: string, line: string): string[] {
  const directory = join(root, 'work');
  const isRoot = process.getuid?.() === 0;
  mkdirSync(directory);
  mkdirSync(join(directory, 'home'));
  for (const name of FILES) writeFileSync(join(directory, name), '');
  writeFileSync(join(root, 'log'), '');
  if (isRoot)
    for (const path of [directory, join(directory, 'home'), join(root, 'log')]) chownSync(path, NOBODY, NOBODY);
  try {
    execFileSync(shell, ['-c', line], {
      cwd: directory,
      env: { PATH: join(root, 'bin'), HOME: join(directory, 'home') },
      stdio: 'ignore',
      timeout: 20_000,
      ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    });
  } catch {
    // Most lines fail: that is nothing to anybody here.
  }
  const log = readFileSync(join(root, 'log'), 'utf8');
  rmSync(directory, { recursive: true, force: true });
  return log.split('\n\0').filter((entry) => entry !== '');
}

/** A command as the policy read it, as a pattern of what a program would be called with. */
function expected(words: readonly Glyphs[]): RegExp {
  const parts = words.map((glyphs, at) => {
    const text = glyphs
      .map((glyph, index) => {
        if (glyph === SOME) return '[^\\0]*';
        if (glyph === ONE) return '[^\\0]';
        if (glyph === 126 && index === 0) return '(?:~|[^\\0]*/home)';
        return `\\u{${glyph.toString(16)}}`;
      })
      .join('');
    if (!glyphs.some((glyph) => glyph < 0) || at === 0) return `${text}\\0`;
    // A pattern becomes files, and none of them is read as an option.
    return `(?:(?!-)${text}\\0)+`;
  });
  return new RegExp(`^${parts.join('')}$`, 'u');
}

const unasked = (command: string): boolean => {
  const { decision } = policy.judge({ tool: 'EXEC_CLI', arguments: { command } }, undefined);
  return decision === 'allow' || decision === 'log';
};

describe.each(['bash', 'dash'])('a line that runs unasked starts in %s', (name) => {
  it('nothing but the commands that the policy saw, with the arguments that it saw', () => {
    const shell = `/usr/bin/${name}`;
    const lines = fc.sample(shellLines, { seed: SEED, numRuns: LINES }).filter(unasked);
    const wrong = lines.flatMap((line) => {
      const reading = readPlain(line);
      const seen = reading.plain ? reading.commands.map(({ words }) => expected(words)) : [];
      const unseen = startedBy(shell, line).filter((call) => !seen.some((pattern) => pattern.test(call)));
      return unseen.length === 0 ? [] : [{ line, unseen }];
    });
    expect(wrong).toEqual([]);
    expect(lines.length).toBeGreaterThan(LINES / 8);
  }, 120_000);
});
