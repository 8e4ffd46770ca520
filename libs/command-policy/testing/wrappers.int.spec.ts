import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DISGUISES } from './noise.js';
import { WRAPPINGS } from './wrappers.js';

const run = promisify(execFile);
let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-wrappers-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Each leaves a file called marker behind. */
const COMMANDS = {
  'one program': 'touch marker',
  'a pipeline with quotes': `printf '%s\\n' "it's" ran | tail -n 1 > marker`,
  'several lines': `for word in mar''ker; do\n  echo "$word" > "$word" # it's done\ndone`,
};

describe.each(Object.entries(WRAPPINGS))('%s', (_, wrap) => {
  it.each(Object.entries(COMMANDS))('runs %s', async (_name, command) => {
    expect(wrap(command)).not.toBe(command);
    await run('bash', ['-c', wrap(command)], { cwd: directory });
    expect(existsSync(join(directory, 'marker'))).toBe(true);
  });
});

describe('what only stands around a command', () => {
  it.each(DISGUISES.map(({ name, apply }) => [name, apply] as const))('%s: it runs', async (_, around) => {
    await writeFile(join(directory, 'names.txt'), 'a\nb\n');
    await run('bash', ['-c', around('touch marker')], { cwd: directory }).catch(() => undefined);
    expect(existsSync(join(directory, 'marker'))).toBe(true);
  });
});

it('there are twelve', () => expect(Object.keys(WRAPPINGS)).toHaveLength(12));
