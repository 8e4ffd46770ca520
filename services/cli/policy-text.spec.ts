import { describe, expect, it } from '@jest/globals';
import type { PolicyVerdict } from '#proto';
import { parsePolicy } from '#libs/command-policy';
import { stringify } from 'yaml';
import { effectivePolicy, explainedJson, explainedRow, explainedText, refusedPolicy, visible } from './policy-text.js';
import { painted, plain } from './style.js';

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
    const details = { commands: [found], policy: 'policy.yaml', paint: plain };
    expect(explainedText({ command: 'rm -r x\nls', verdict }, details)).toEqual([
      '  rm -r x',
      '  ls',
      '',
      'decision  approve: a person is asked first',
      'class     destructive',
      'rule      program.rm',
      'because   rm removes files.',
      String.raw`          It reaches \u{1b}[2Jinto /srv.`,
      '          each time: one approval never stands for the next',
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
    ['escape sequences', `ls ${ESCAPE}[2K${ESCAPE}]0;title\u0007`, String.raw`ls \u{1b}[2K\u{1b}]0;title\u{7}`],
    ['zero-width characters', 'r\u200Bm', String.raw`r\u{200b}m`],
    ['direction marks', 'l\u202Es', String.raw`l\u{202e}s`],
    ['carriage returns', 'rm -rf x\rls       ', String.raw`rm -rf x\u{d}ls       `],
    ['spaces that are none', 'ls\u00A0-la', String.raw`ls\u{a0}-la`],
    ['line separators', 'ls\u2028rm', String.raw`ls\u{2028}rm`],
    ['letters without a shape', 'a\u3164b', String.raw`a\u{3164}b`],
    ['halves of characters', 'a\uD800b', String.raw`a\u{d800}b`],
  ])('spells out %s', (_, text, shown) => {
    expect(visible(text)).toBe(shown);
    expect(explainedRow({ command: text, verdict }, plain)).toContain(shown.trimEnd());
  });

  it('leaves lines, tabs and letters of any script alone', () => {
    expect(visible('printf "\tGrüße\n日本"')).toBe('printf "\tGrüße\n日本"');
  });

  it('keeps a row one line', () => {
    expect(explainedRow({ command: 'ls\nrm -r x', verdict }, plain)).toBe('approve destructive ls⏎rm -r x  program.rm');
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
