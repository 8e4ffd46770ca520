import { describe, expect, it } from '@jest/globals';
import type { PolicyVerdict } from '#proto';
import { parsePolicy } from '#libs/command-policy';
import { stringify } from 'yaml';
import { effectivePolicy, explainedJson, explainedRow, explainedText, refusedPolicy } from './policy-text.js';
import { painted, plain } from '../../terminal/style.js';

const verdict: PolicyVerdict = {
  class: 'destructive',
  decision: 'approve',
  rule: 'program.rm',
  reasons: ['rm removes files.', 'It reaches \u001B[2Jinto /srv.'],
  grantable: false,
};
const ESCAPE = '\u001B';

describe('what a person reads', () => {
  it('says what would happen, by which rule, and why', () => {
    const found = {
      text: 'rm -r x',
      class: 'destructive',
      decision: 'approve',
      rule: 'program.rm',
      reason: 'rm',
    } as const;
    const wall = { kind: 'write', views: [], writable: ['/srv/\u001B[2Jx'], reason: 'So it is.' } as const;
    const details = { wall, commands: [found], policy: 'policy.yaml', paint: plain };
    expect(explainedText({ command: 'rm -r x\nls', verdict }, details)).toEqual([
      '  rm -r x',
      '  ls',
      '',
      'decision  approve: a person is asked first',
      'class     destructive',
      'rule      program.rm',
      'because   rm removes files.',
      String.raw`          It reaches \u001b[2Jinto /srv.`,
      '          each time: one approval never stands for the next',
      String.raw`wall      may write where commands work and in /srv/\u001b[2Jx; speaks to nobody; sees no secrets`,
      '          So it is.',
      '',
      'what was found',
      '  approve destructive rm -r x',
      '          program.rm: rm',
      '',
      'by policy.yaml',
    ]);
  });

  it('paints the decision', () => {
    expect(explainedRow({ command: 'ls', verdict: { ...verdict, decision: 'deny' } }, painted)).toMatch(
      /^\u001B\[31mdeny/u,
    );
    expect(explainedRow({ command: 'ls', verdict: { ...verdict, decision: 'allow' } }, painted)).toMatch(
      /^\u001B\[32mallow/u,
    );
  });

  it.each([
    ['an escape sequence', `ls ${ESCAPE}[2K`, String.raw`ls \u001b[2K`],
    ['a space that is none', 'ls\u00A0-la', String.raw`ls\u00a0-la`],
    ['a letter without a shape', 'a\u3164b', String.raw`a\u3164b`],
    ['another line', 'ls\nrm -r x', String.raw`ls\nrm -r x`],
  ])('spells out %s in a row', (_, command, shown) =>
    expect(explainedRow({ command, verdict }, plain)).toBe(`approve destructive ${shown}  program.rm`),
  );

  it('spells it out in every line of the whole', () => {
    const details = { wall: undefined, commands: [], policy: 'policy.yaml', paint: plain };
    const [first, second] = explainedText({ command: `echo a\rb\nrm\u200b ü`, verdict }, details);
    expect([first, second]).toEqual([String.raw`  echo a\rb`, String.raw`  rm\u200b ü`]);
  });
});

it('a program gets the five fields, the command as it was given', () => {
  const line = JSON.stringify(explainedJson({ command: 'r\u200Bm', verdict }));
  expect(Object.keys(JSON.parse(line) as object)).toEqual(['command', 'class', 'decision', 'rule', 'reasons']);
  expect(JSON.parse(line)).toMatchObject({ command: 'r\u200Bm', decision: 'approve' });
});

describe('policy files', () => {
  it('the effective policy is a policy again, the same one', () => {
    const parsed = parsePolicy('version: 1\ndefaults: {write: approve}\nrules: []\n');
    if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
    const effective = effectivePolicy(parsed.policy);
    expect(effective.defaults).toMatchObject({ read: 'allow', write: 'approve', privileged: 'approve' });
    const again = parsePolicy(stringify(effective));
    expect(again).toEqual({ ok: true, policy: effective });
    expect(effectivePolicy(effective)).toEqual(effective);
  });

  it('refusals name every mistake', () => {
    expect(refusedPolicy('p.yaml', ['rules.0: bad'])).toBe('p.yaml: rules.0: bad');
    expect(refusedPolicy('p.yaml', ['a: bad', 'b: bad'])).toBe('p.yaml has 2 mistakes:\n  a: bad\n  b: bad');
  });
});
