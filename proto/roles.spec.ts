import { describe, expect, it } from '@jest/globals';
import { Role } from './actors.js';
import { QUERIES } from './queries.js';
import { type ActionName, isSignedAction, mayDo, missingRole, ROLE_TABLE } from './roles.js';
import { RUN_VERBS } from './verbs.js';

const actions = Object.keys(ROLE_TABLE) as ActionName[];
const allowed = (role: Role, own = false): ActionName[] => actions.filter((action) => mayDo([role], action, { own }));
const changes = RUN_VERBS.filter((verb) => verb !== 'ANNOTATE');

describe('the table of roles', () => {
  it('has a row for every verb and every query, and for no other', () => {
    const queries = Object.entries(QUERIES).flatMap(([service, names]) =>
      Object.keys(names).map((name) => `${service}.${name}`),
    );
    const reads = ['READ_RUNS', 'WATCH', 'READ_OUTPUT', 'READ_LOG', 'EXPORT', 'VERIFY'];
    expect(new Set(actions)).toEqual(new Set(['SUBMIT', 'RUN_UNJUDGED', ...RUN_VERBS, ...queries, ...reads]));
  });

  it('allows nothing to who has no role, also not with what is his own', () => {
    expect(actions.filter((action) => mayDo([], action) || mayDo([], action, { own: true }))).toEqual([]);
  });

  it('lets roles add up, and never take away from each other', () => {
    for (const one of Role.options) {
      for (const other of Role.options) {
        const both = actions.filter((action) => mayDo([one, other], action));
        expect(new Set(both)).toEqual(new Set([...allowed(one), ...allowed(other)]));
      }
    }
  });

  it('lets a viewer, an auditor and an admin change no run', () => {
    for (const role of ['viewer', 'auditor', 'admin'] as const) {
      expect(changes.filter((verb) => mayDo([role], verb, { own: true }))).toEqual([]);
      expect(mayDo([role], 'SUBMIT')).toBe(false);
    }
  });

  it('lets a requester control what is his own only, and decide about nothing', () => {
    expect(mayDo(['requester'], 'CANCEL')).toBe(false);
    expect(mayDo(['requester'], 'CANCEL', { own: true })).toBe(true);
    for (const verb of ['APPROVE', 'REJECT'] as const) expect(mayDo(['requester'], verb, { own: true })).toBe(false);
  });

  it('lets approvers approve, and nobody else', () => {
    expect(Role.options.filter((role) => mayDo([role], 'APPROVE', { own: true }))).toEqual(['approver']);
  });

  it('lets exact commands of an operator run as they stand, and those of nobody else, also in a run of his own', () => {
    expect(Role.options.filter((role) => mayDo([role], 'RUN_UNJUDGED', { own: true }))).toEqual(['operator']);
  });

  it('gives an admin people and tokens, and nothing of runs, devices or logs', () => {
    for (const action of allowed('admin')) expect(action).toMatch(/^registry\.(?:people|token)/u);
    expect(allowed('admin')).toContain('registry.people-add');
  });

  it('lets only an admin change people, whatever is whose', () => {
    const changed = actions.filter((action) => /^registry\.people-(?!limits$)|^registry\.token-issue$/u.test(action));
    expect(changed).toHaveLength(6);
    for (const action of changed) {
      expect(Role.options.filter((role) => mayDo([role], action, { own: true }))).toEqual(['admin']);
    }
  });

  it('has no role for what services ask each other', () => {
    const among = actions.filter((action) => ROLE_TABLE[action].services !== undefined);
    expect(among.length).toBeGreaterThan(0);
    expect(among.flatMap((action) => ROLE_TABLE[action].roles)).toEqual([]);
  });

  it('has everything signed that a role lets somebody do', () => {
    const unsigned = actions.filter((action) => !isSignedAction(action));
    expect(unsigned.filter((action) => Role.options.some((role) => mayDo([role], action, { own: true })))).toEqual([]);
    expect(unsigned.filter((action) => !/^registry\.|^device-agent\.deliver$/u.test(action))).toEqual([]);
  });

  it('says which roles are needed, and which there are', () => {
    const anna = { kind: 'person', id: 'anna' } as const;
    expect(missingRole('REJECT', anna, ['viewer', 'admin'])).toBe(
      'REJECT needs the role approver or operator; anna has viewer, admin',
    );
    expect(missingRole('registry.join', anna, [])).toBe('registry.join is for services only; anna has none');
  });
});
