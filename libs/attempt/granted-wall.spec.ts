import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type CommandOutcome,
  type CommandWall,
  isWallWithin,
  type PolicyVerdict,
  UNHELD,
  WALL_VIEWS,
  wallOnly,
} from '#proto';
import { type CommandRecord, emptyRecord } from './book.js';
import { grantedWall } from './recorded-outcomes.js';
import { judgedByDevice, wantsPerson } from './verdict.js';

const walls: fc.Arbitrary<CommandWall> = fc.record(
  {
    kind: fc.constantFrom('read', 'write', 'none'),
    views: fc.subarray([...WALL_VIEWS]),
    internet: fc.constant(true),
    writable: fc.uniqueArray(fc.constantFrom('/srv', '/srv/app', '/data'), { maxLength: 2 }),
  },
  { requiredKeys: ['kind', 'views'] },
);

/** One that was asked about, and decided. */
function record(shown: CommandWall | undefined, decided: object, edited?: CommandWall): CommandRecord {
  const judged = edited === undefined ? [] : [{ origin: 'person', wall: edited }];
  const ask = { kind: 'approval', ...(shown && { wall: shown }) };
  return { ...emptyRecord('r.a.1.1.0'), ask, decided, judged } as unknown as CommandRecord;
}

const yes = { decision: 'approved' };
const edited = { decision: 'edited', command: { tool: 'EXEC_CLI', arguments: { command: 'ls' } } };

describe('what an approved command is given', () => {
  it('is what the approval says, or what was shown; of a changed one no more than fits it', () => {
    fc.assert(
      fc.property(walls, walls, fc.option(walls, { nil: undefined }), (shown, fits, said) => {
        const word = said === undefined ? {} : { wall: said };
        expect(grantedWall(record(shown, { ...yes, ...word }))).toEqual(said ?? wallOnly(shown));
        const given = grantedWall(record(shown, { ...edited, ...word }, fits));
        if (said !== undefined) expect(given).toEqual(said);
        else expect([shown, fits].every((bound) => isWallWithin(given ?? UNHELD, bound))).toBe(true);
      }),
    );
  });

  it('is nothing that could be said where it was asked before anybody was shown anything', () => {
    expect(grantedWall(record(undefined, yes))).toBeUndefined();
  });
});

describe('a command that its device wants a person to be asked about', () => {
  const error = { code: 'APPROVAL_REQUIRED', message: 'a link leads to a secret', outcome: 'failed' } as const;
  const outcome: CommandOutcome = { state: 'FAILED', result: null, error, startedAt: null, durationMs: null };
  const issued = { journalId: 'j1' } as CommandRecord['issued'];
  const before = { ...emptyRecord('r.a.1.1.0'), issued, judged: [{ origin: 'agent' }] } as unknown as CommandRecord;
  const live = (more: object = {}) =>
    ({ stop: null, order: { start: {} }, ...more }) as unknown as Parameters<typeof wantsPerson>[2];

  it('is asked about once, as long as it has not run and somebody may be asked', () => {
    expect(wantsPerson(before, outcome, live())).toBe(true);
    const not: [string, CommandRecord, CommandOutcome, ReturnType<typeof live>][] = [
      ['started', before, { ...outcome, startedAt: '2026-11-20T10:00:00.000Z' }, live()],
      ['other', before, { ...outcome, error: { ...error, code: 'EXIT_CODE' } }, live()],
      ['asked before', { ...before, ask: {} as CommandRecord['ask'] }, outcome, live()],
      ['no journal', { ...before, issued: { journalId: null } as CommandRecord['issued'] }, outcome, live()],
      ['not judged', { ...before, judged: [] }, outcome, live()],
      ['stopped', before, outcome, live({ stop: {} })],
      ['never', before, outcome, live({ order: { start: { approval: 'never' } } })],
    ];
    for (const [what, record_, ended, attempt] of not)
      expect([what, wantsPerson(record_, ended, attempt)]).toEqual([what, false]);
  });

  it('is shown with the words of the device, and with what it would give it; what is none is not believed', () => {
    const verdict: PolicyVerdict = { class: 'read', decision: 'allow', rule: 'r', reasons: ['why'], grantable: true };
    const wall = { kind: 'read', views: [], writable: ['/srv'] };
    expect(judgedByDevice(verdict, { ...outcome, result: { wall } })).toEqual({
      verdict: { ...verdict, decision: 'approve', rule: 'device', reasons: [error.message, 'why'], grantable: false },
      wall,
    });
    for (const result of [null, 'wall', { wall: { kind: 'all', views: [] } }, { wall: { ...wall, more: 1 } }])
      expect(judgedByDevice(verdict, { ...outcome, result }).wall).toMatchObject({
        kind: 'none',
        reason: expect.stringContaining('does not say'),
      });
  });
});
