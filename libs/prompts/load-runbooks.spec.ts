import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { untypedLines } from '#libs/planner';
import { loadRunbooks, parseRunbookFile, PROMPT_LIMITS, runbookDirectories } from './index.js';

const textOf = (name: string, title = 'Title'): string =>
  [
    `name: ${name}`,
    `title: ${title}`,
    'description: what it does',
    'constellation:',
    '  tasks:',
    '    - { task_id: a, name: a, target: { os: linux }, command: { tool: SYS_INFO, arguments: { info_type: os } } }',
    '',
  ].join('\n');

describe('the shipped runbooks', () => {
  it('are all right, five of them, each in a file of its name, with the SHA-256 of the file', async () => {
    const { runbooks, problems } = await loadRunbooks(runbookDirectories({}));
    expect(problems).toEqual([]);
    expect(runbooks.map(({ info }) => info.name)).toEqual([
      'disk-space-alert',
      'failed-ssh-logins',
      'fleet-health',
      'restart-service',
      'run-script',
    ]);
    // Each of their lines says when it is satisfied.
    expect(runbooks.flatMap(({ file }) => untypedLines(file))).toEqual([]);
    const [shipped] = runbookDirectories({});
    for (const { info } of runbooks) {
      const bytes = await readFile(join(shipped?.path ?? '', `${info.name}.yaml`));
      expect(info).toMatchObject({ source: 'shipped', hash: createHash('sha256').update(bytes).digest('hex') });
    }
  });
});

describe('loadRunbooks', () => {
  let root = '';
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'runbooks-'));
    for (const directory of ['shipped', 'own']) await mkdir(join(root, directory));
  });
  afterEach(() => rm(root, { recursive: true }));
  const write = (file: string, text: string): Promise<void> => writeFile(join(root, file), text);
  const load = () =>
    loadRunbooks([
      { path: join(root, 'shipped'), source: 'shipped' },
      { path: join(root, 'own'), source: 'operator' },
    ]);

  it("takes the operator's runbook of the same name, and both of others", async () => {
    await write('shipped/a.yaml', textOf('a', 'theirs'));
    await write('shipped/b.yml', textOf('b'));
    await write('own/mine.yaml', textOf('a', 'ours'));
    await write('own/notes.txt', 'no runbook');
    const { runbooks, problems } = await load();
    expect(problems).toEqual([]);
    expect(runbooks.map(({ info }) => [info.name, info.title, info.source])).toEqual([
      ['a', 'ours', 'operator'],
      ['b', 'Title', 'shipped'],
    ]);
  });

  it('says of every file that cannot be used why, and uses the others', async () => {
    await write('own/a.yaml', textOf('a'));
    await write('own/again.yaml', textOf('a'));
    await write('own/broken.yaml', 'name: [');
    await write('own/short.yaml', 'name: short');
    await write('own/keys.yaml', '? { a: b }\n: 1\n');
    await mkdir(join(root, 'own/folder.yaml'));
    const { runbooks, problems } = await load();
    expect(runbooks.map(({ info }) => info.name)).toEqual(['a']);
    const expected = [
      /^again\.yaml: name: "a" is already the runbook in a\.yaml$/u,
      /^broken\.yaml: /u,
      /^folder\.yaml: the file cannot be read \(EISDIR\)$/u,
      /^keys\.yaml: /u,
      /^short\.yaml: title: /u,
    ];
    for (const sentence of expected) expect(problems.filter((problem) => sentence.test(problem))).not.toEqual([]);
  });

  it('says that a directory is missing', async () => {
    const { problems } = await loadRunbooks([{ path: join(root, 'nowhere'), source: 'operator' }]);
    expect(problems).toEqual([`${join(root, 'nowhere')}: the directory cannot be read (ENOENT)`]);
  });

  it('lets ORRERY_RUNBOOKS_DIR name the second directory', () => {
    expect(runbookDirectories({ ORRERY_RUNBOOKS_DIR: root })).toEqual([
      expect.objectContaining({ source: 'shipped' }),
      { path: root, source: 'operator' },
    ]);
    expect(runbookDirectories({ ORRERY_PROMPTS_DIR: root })).toHaveLength(1);
    expect(runbookDirectories({ ORRERY_PROMPTS_DIR: root })[0]?.path).not.toContain(root);
  });

  it('refuses what is too large, and aliases that grow without bound', () => {
    const large = parseRunbookFile(Buffer.alloc(PROMPT_LIMITS.fileBytesMax + 1, 32), 'operator');
    expect(large).toMatchObject({ ok: false, issues: [{ message: expect.stringContaining('262144 are allowed') }] });
    const levels = Array.from({ length: 12 }, (_, level) =>
      level === 0 ? 'l0: &l0 [x, x]' : `l${level}: &l${level} [${`*l${level - 1}, `.repeat(9)}*l${level - 1}]`,
    );
    expect(parseRunbookFile(Buffer.from(levels.join('\n')), 'operator')).toMatchObject({
      ok: false,
      issues: [{ message: expect.stringContaining('aliases stand for more than 50 nodes') }],
    });
  });
});
