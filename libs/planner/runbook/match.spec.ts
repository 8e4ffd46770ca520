import { describe, expect, it } from '@jest/globals';
import { matchGoal } from './match.js';
import { runbook, runbookJson, withTasks } from './runbook.testing.js';
import { parseRunbook } from './parse.js';

const SHELL = { tool: 'EXEC_CLI', arguments: { command: 'echo "$X"', env: { X: '{{ p.x }} {{ p.n }} {{ p.yes }}' } } };
const OTHER = runbook({
  name: 'other',
  ...withTasks(
    [{ task_id: 'a', name: 'a', target: { os: 'linux' }, command: SHELL }],
    [],
    [
      { name: 'x', description: 'x', default: '' },
      { name: 'n', description: 'n', type: 'number', default: 0 },
      { name: 'yes', description: 'yes', type: 'boolean', default: false },
    ],
  ),
  matches: ['tell me {x}', 'which disks are above {n} %', 'compare {x} with {n} today', 'restart {x} everywhere'],
});
const BOOKS = [OTHER, runbook()];

function matched(goal: string): unknown {
  const found = matchGoal(goal, BOOKS);
  if (found === null) return null;
  return 'issues' in found
    ? found.issues.map(({ path, message }) => `${path}: ${message}`)
    : { [found.runbook.info.name]: found.parameters };
}

describe('a goal that is called by name', () => {
  it.each([
    ['other', { other: { x: '', n: 0, yes: false } }],
    ['  Other  ', { other: { x: '', n: 0, yes: false } }],
    ['other x=a n=2.5 yes=yes', { other: { x: 'a', n: 2.5, yes: true } }],
    ['other x="a b \\" c=d"', { other: { x: 'a b " c=d', n: 0, yes: false } }],
    [`other x='a "b"' n=-1`, { other: { x: 'a "b"', n: -1, yes: false } }],
    ['other x=', { other: { x: '', n: 0, yes: false } }],
    ['other\nx=/a/b=c', { other: { x: '/a/b=c', n: 0, yes: false } }],
    ['other x="two\nlines"', { other: { x: 'two\nlines', n: 0, yes: false } }],
    ['restart service=nginx device=web-1 tries=3', { restart: { service: 'nginx', device: 'web-1', tries: 3 } }],
  ])('%s has its parameters', (goal, expected) => {
    expect(matched(goal)).toEqual(expected);
  });

  it.each([
    ['restart service=nginx', ['parameters.device: is needed: where (the id of a device)']],
    ['restart service=NGINX device=d', ['parameters.service: must be a text that fits [a-z]+, not "NGINX"']],
    ['restart service=a device=b/c', ['parameters.device: must be the id of a device, not "b/c"']],
    ['restart service=a device=b tries=10', ['parameters.tries: must be a whole number from 1 to 9, not "10"']],
    ['restart service=a device=b tries=2.5', ['parameters.tries: must be a whole number from 1 to 9, not "2.5"']],
    ['other z=1', ['parameters.z: unknown; "other" takes x, n, yes']],
    ['other __proto__=1', ['parameters.__proto__: unknown; "other" takes x, n, yes']],
    ['other n=1 n=2', ['parameters.n: is given twice']],
    [
      'other n=1 and more',
      [
        'goal: "and" is not key=value; a value with spaces is quoted: key="a b"',
        'goal: "more" is not key=value; a value with spaces is quoted: key="a b"',
      ],
    ],
    ['other yes=perhaps', ['parameters.yes: must be true or false, not "perhaps"']],
  ])('%s says what is wrong', (goal, issues) => {
    expect(matched(goal)).toEqual(issues);
  });

  it('is none when words follow that make a sentence', () => {
    expect(matched('other things are more important')).toBeNull();
    expect(matched('othernot')).toBeNull();
  });
});

describe('a goal in words', () => {
  it.each([
    ['Restart nginx  on web-1.', { restart: { service: 'nginx', device: 'web-1', tries: 2 } }],
    ['restart "nginx" on `web-1`', { restart: { service: 'nginx', device: 'web-1', tries: 2 } }],
    ['Which disks are above 80 %?', { other: { x: '', n: 80, yes: false } }],
    ['compare this with that with 3 today', null],
    ['compare THIS with 3 today', { other: { x: 'THIS', n: 3, yes: false } }],
    ['tell me $(reboot); now', { other: { x: '$(reboot); now', n: 0, yes: false } }],
    ['restart NGINX on web-1', null],
    ['restart nginx on the web server', null],
    ['please restart nginx on web-1', null],
    ['restart nginx on ', null],
    ['which disks are above a lot of %', null],
    ['something else', null],
    ['', null],
  ])('%s', (goal, expected) => {
    expect(matched(goal)).toEqual(expected);
  });

  it('that fits two runbooks is an issue that names both', () => {
    const second = runbook({ name: 'second' });
    const found = matchGoal('restart nginx on web-1', [...BOOKS, second]);
    expect(found).toEqual({
      issues: [
        { path: 'goal', message: 'it fits the runbooks restart and second; begin with the name of the one you mean' },
      ],
    });
  });

  it('is read once, however long it is', () => {
    expect(matchGoal(`compare ${' with '.repeat(20_000)}`, BOOKS)).toBeNull();
    expect(matchGoal(`other ${'a="'.repeat(6_000)}`, BOOKS)).toBeNull();
  });
});

describe('a pattern of goals', () => {
  it.each([
    ['restart {what} on {device}', /there is no parameter "what"; known are service, device, tries/u],
    ['restart {service}{device}', /words are needed between/u],
    ['restart {service} {device}', /words are needed between/u],
    ['{service} on {device}', /words of its own/u],
    ['restart {service', /a brace is missing/u],
    ['restart {service} or {service} on {device}', /may stand there once/u],
    ['restart {service}', /\{device\} is required/u],
  ])('%s is refused', (match, sentence) => {
    expect(parseRunbook(runbookJson({ matches: [match] }), 'b'.repeat(64), 'operator')).toEqual({
      ok: false,
      issues: [{ path: 'matches[0]', message: expect.stringMatching(sentence) }],
    });
  });
});
