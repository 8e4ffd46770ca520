import { describe, expect, it } from '@jest/globals';
import type { RunVerb } from '#proto';
import { parseVerbFields } from './verbs.client.js';

const issuesOf = (verb: RunVerb, fields: unknown) => {
  const parsed = parseVerbFields(verb, fields);
  return parsed.ok ? 'accepted' : parsed.issues;
};

describe('parseVerbFields', () => {
  it.each<[RunVerb, object]>([
    ['CANCEL', {}],
    ['PAUSE', { reason: 'maintenance' }],
    ['RESUME', {}],
    ['RETRY', { taskId: 'a' }],
    ['FORK', { at: 3 }],
    ['PROPOSE', { proposal: { edits: [] } }],
  ])('takes what is said with %s', (verb, fields) => expect(issuesOf(verb, fields)).toBe('accepted'));

  it.each(['id', 'actor'])('takes no %s: it is made when the verb is sent', (field) =>
    expect(issuesOf('CANCEL', { [field]: 'x' })).toEqual([{ path: field, message: 'unknown field' }]),
  );

  it('takes no parent of a fork: it is the run that the verb is sent to', () =>
    expect(issuesOf('FORK', { at: 1, parent: 'r2' })).toEqual([{ path: 'parent', message: 'unknown field' }]));

  it('names the field that is wrong', () =>
    expect(issuesOf('PROPOSE', { proposal: { edits: [{ tool: 'remove_task', taskId: 'a.b' }] } })).toEqual([
      { path: 'proposal.edits[0].taskId', message: expect.stringContaining('a task id must be') },
    ]));

  it('refuses half a character, which no signature can be made over, wherever it stands', () => {
    const task = { id: 'a', name: 'A', target: { device: 'd' }, command: { tool: 'T', arguments: { '\uD800': 1 } } };
    const halves = [{ reason: 'a\uD800b' }, { reason: '\uDC00' }];
    expect(halves.map((fields) => issuesOf('CANCEL', fields))).not.toContain('accepted');
    expect(issuesOf('PROPOSE', { proposal: { edits: [{ tool: 'add_task', task }] } })).not.toBe('accepted');
    expect(issuesOf('CANCEL', { reason: '😀' })).toBe('accepted');
  });
});
