import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deviceLinks, openBashGrammar, openPolicy, type CommandPolicy } from '../index.js';

/** A world in which what is written leads elsewhere: a desk (also reached by the link `way`), a home, and links out of both. */
const root = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-links-')));
const links = deviceLinks({ directory: join(root, 'way'), home: join(root, 'home') });
let here: CommandPolicy;
let afar: CommandPolicy;

beforeAll(async () => {
  for (const folder of ['desk/sub', 'desk/plain', 'home', 'deep/er/x'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const file of ['desk/a.yml', 'desk/sub/credentials.yml', 'desk/plain/b.yml', 'home/notes'])
    writeFileSync(join(root, file), '');
  symlinkSync('desk', join(root, 'way'));
  symlinkSync('/etc', join(root, 'desk/etc'));
  symlinkSync('/etc/cron.d/not-yet', join(root, 'desk/later'));
  symlinkSync('../desk/etc/shadow', join(root, 'home/two'));
  symlinkSync('loop', join(root, 'desk/loop'));
  symlinkSync('../../deep/er/x', join(root, 'desk/sub/down'));
  const parser = await openBashGrammar();
  here = openPolicy({ links }, parser);
  afar = openPolicy({}, parser);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const decided = (policy: CommandPolicy, command: string, tool = 'EXEC_CLI') =>
  policy.judge({ tool, arguments: { command } }, undefined).decision;

describe('the files of a device', () => {
  it.each([
    ['/etc/hostname-that-is-not-there', undefined],
    ['./a.yml', undefined],
    ['./sub/../a.yml', undefined],
    ['./not/yet', undefined],
    ['~/notes', undefined],
    ['/dev/stdin', undefined],
    ['./etc/shadow', '/etc/shadow'],
    ['./later', '/etc/cron.d/not-yet'],
    ['./etc/new', '/etc/new'],
    ['~/two', '/etc/shadow'],
    [`${root}/way/etc/x`, '/etc/x'],
    ['./sub/down/../y', join(root, 'deep/er/y')],
  ])('%s leads to %s', (path, real) => {
    expect(links.real(path)).toBe(real);
  });

  it('are not lost in a circle of links', () => {
    expect(links.real('./loop/x')).toBeUndefined();
  });
});

describe('what the operator of a device hides below the place where its commands start', () => {
  it.each(['desk/plain/**', '*/plain/*', 'desk/**/b.yml', 'desk/plain/b.yml'])(
    'is known by the word (%s), however a command names it',
    async (hidden) => {
      const file = JSON.stringify({ version: 1, sensitivePaths: [join(root, hidden)], writablePaths: ['/**'] });
      const hides = openPolicy({ file, links }, await openBashGrammar());
      const lines = [
        'cat plain/b.yml',
        'cat ./plain/b.yml',
        'cat plain/*',
        'cat ./*/b.yml',
        'cat sub/../plain/b.yml',
        'cd plain; cat b.yml',
        'cd sub; cat ../plain/b.yml',
        'head < plain/b.yml',
        'echo x >> plain/b.yml',
        'cp plain/b.yml new',
        'grep -r x .',
        'find . -type f -exec cat {} +',
        'tar -cf - plain',
        'cp -r . /tmp/new',
        `cat ${root}/desk/plain/b.yml`,
        `cd ${root}; cat desk/plain/b.yml`,
        'cat ~/../desk/plain/b.yml',
      ];
      expect(lines.filter((line) => ['allow', 'log'].includes(decided(hides, line)))).toEqual([]);
      const free = ['cat a.yml', 'cat sub/a.yml', 'ls plain', 'cat home/plain', 'echo x > c.yml'];
      expect(free.filter((line) => !['allow', 'log'].includes(decided(hides, line)))).toEqual([]);
    },
  );

  it('is known in the home of commands, too, and leaves the place itself to them', async () => {
    const judging = async (sensitivePaths: string[]) =>
      openPolicy({ file: JSON.stringify({ version: 1, sensitivePaths }), links }, await openBashGrammar());
    expect(decided(await judging([`${root}/home/notes`]), 'cat ~/notes')).toBe('approve');
    expect(decided(await judging([`${root}/way/a.yml`]), 'cat a.yml')).toBe('approve');
    expect(decided(await judging([`${root}/**`]), 'cat a.yml')).toBe('allow');
    expect(decided(await judging([`${root}/desk/**`]), 'cat sub/a.yml')).toBe('allow');
  });
});

describe('a device that judges with its files before it', () => {
  it.each([
    ['cat ./etc/shadow', 'allow', 'approve'],
    ['cat ~/two', 'allow', 'approve'],
    ['cat ./etc/hosts', 'allow', 'allow'],
    ['cp a.yml later', 'log', 'approve'],
    ['tee ./etc/new', 'log', 'approve'],
    ['cat ./*.yml', 'allow', 'allow'],
    ['cat ./sub/*.yml', 'allow', 'approve'],
    ['cat ./*/*.yml', 'allow', 'approve'],
    ['cat ./plain/*.yml', 'allow', 'allow'],
    ['head -n 1 ./s?b/cred*', 'allow', 'approve'],
    ['cat ./*.pem', 'approve', 'approve'],
    ['grep -R root .', 'allow', 'approve'],
    ['grep -r b ./plain', 'allow', 'allow'],
    ['grep -r b ./sub', 'allow', 'approve'],
    ['grep -r b .', 'allow', 'approve'],
    ['find ./sub -type f -exec cat {} +', 'allow', 'approve'],
    ['find ./plain -type f -exec cat {} +', 'allow', 'allow'],
    ['cp -r ./sub ./copy', 'log', 'approve'],
    ['ls -lR ./sub', 'allow', 'allow'],
    ['diff ./plain ./plain', 'allow', 'allow'],
    ['tar -chf copy.tar .', 'log', 'approve'],
    ['cat notes > out.txt', 'log', 'log'],
  ])('%s: the service says %s, the device %s', (command, first, second) => {
    expect([decided(afar, command), decided(here, command)]).toEqual([first, second]);
  });

  it('is what lets a pattern pass: where nobody looks, it counts as all that it can match', async () => {
    const file = 'version: 1\ntools: { execute_command: { shellLine: command } }';
    const elsewhere = openPolicy({ file, links }, await openBashGrammar());
    expect(decided(elsewhere, 'cat ./plain/*.yml', 'execute_command')).toBe('approve');
  });
});
