import { mkdtemp, rm, unlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { runbookDirectories } from '#libs/prompts';
import { RunbookShelf } from './runbook-shelf.adapter.js';

let directory: string;
let shelf: RunbookShelf;
let said: string[];
let changes = 0;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-shelf-'));
  said = [];
  const logger = pino(
    { level: 'info' },
    { write: (line: string) => void said.push((JSON.parse(line) as { msg: string }).msg) },
  );
  shelf = await RunbookShelf.open(runbookDirectories({ ORRERY_RUNBOOKS_DIR: directory }), logger);
});
afterEach(() => rm(directory, { recursive: true }));

/** As an editor leaves it; a clock that is coarse makes no difference. */
async function put(file: string, text: string): Promise<void> {
  await writeFile(join(directory, file), text);
  const at = new Date(Date.UTC(2026, 10, 20) + (changes += 1) * 1_000);
  await utimes(join(directory, file), at, at);
  await shelf.look();
}
const runbook = (name: string, title: string): string =>
  [
    `name: ${name}`,
    `title: ${title}`,
    'description: what it does',
    'constellation:',
    '  tasks:',
    '    - { task_id: a, name: a, target: { os: linux }, command: { tool: SYS_INFO, arguments: { info_type: os } } }',
    '',
  ].join('\n');
const titleOf = (name: string): string | undefined => shelf.runbooks.find(({ info }) => info.name === name)?.info.title;

it('has what is put there, changed and taken away, and says so', async () => {
  const shipped = shelf.runbooks.length;
  await put('own.yaml', runbook('own', 'the first'));
  expect([shelf.runbooks.length, titleOf('own')]).toEqual([shipped + 1, 'the first']);
  await put('own.yaml', runbook('own', 'the second'));
  expect(titleOf('own')).toBe('the second');
  await unlink(join(directory, 'own.yaml'));
  await shelf.look();
  expect(titleOf('own')).toBeUndefined();
  expect(said).toEqual(['a runbook is new', 'a runbook was changed', 'a runbook is gone']);
});

it('goes on with what it had of a file that is broken now, and says what is wrong, once', async () => {
  await put('own.yaml', runbook('disk-space-alert', 'mine'));
  await put('own.yaml', 'name: [');
  await put('other.yaml', runbook('other', 'whole'));
  expect([titleOf('disk-space-alert'), titleOf('other')]).toEqual(['mine', 'whole']);
  expect(shelf.problems.join(' ')).toMatch(
    /own\.yaml: .*disk-space-alert: what was read of it before goes on to be used/u,
  );
  expect(said.filter((text) => text === 'a runbook cannot be used')).toHaveLength(2);
  await put('own.yaml', runbook('disk-space-alert', 'mended'));
  expect([titleOf('disk-space-alert'), shelf.problems]).toEqual(['mended', []]);
});

it('reads nothing where nothing has changed', async () => {
  const before = shelf.runbooks;
  await shelf.look();
  expect(shelf.runbooks).toBe(before);
});
