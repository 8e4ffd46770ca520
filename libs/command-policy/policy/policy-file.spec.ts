import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parsePolicy } from './policy-file.js';

describe('a policy file', () => {
  it('may say nothing but its version', () => {
    expect(parsePolicy('version: 1')).toEqual({ ok: true, policy: { version: 1 } });
  });

  it.each([
    ['', /the policy/u],
    ['version: 2', /version/u],
    ['version: 1\nrule: []', /rule/u],
    ['version: 1\ndefaults: { reed: allow }', /defaults.*reed/u],
    ['version: 1\ndefaults: { read: maybe }', /defaults\.read/u],
    ['version: 1\nrules: [{ id: a, match: {}, decision: allow }]', /rules\.0\.match: must say at least one/u],
    ['version: 1\nrules: [{ id: "A b", match: { program: ls }, decision: allow }]', /rules\.0\.id: a rule id/u],
    ['version: 1\nsensitivePaths: [etc/x]', /sensitivePaths\.0: a sensitive path must begin with/u],
    ['version: 1\ntools: { a: { shell: x } }', /tools\.a: must be one of read, .* or \{ shellLine:/u],
    ['version: 1\nversion: 1', /not YAML/u],
    ['a: &a [x, x]\nb: [*a, *a]', /aliases/u],
    ['version: [', /not YAML/u],
    [`version: 1 # ${'x'.repeat(300_000)}`, /characters/u],
  ])('%j is refused with what is wrong', (text, error) => {
    const parsed = parsePolicy(text);
    expect(parsed.ok ? 'accepted' : parsed.errors.join('\n')).toMatch(error);
  });

  it('is as the documentation shows it', () => {
    const text = readFileSync(join(import.meta.dirname, '../../../docs/command-policy.md'), 'utf8');
    const examples = [...text.matchAll(/```yaml\n(.*?)```/gsu)].map(([, yaml]) => parsePolicy(yaml ?? ''));
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(example).toMatchObject({ ok: true });
  });
});
