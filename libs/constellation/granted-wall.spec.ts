import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Actor, type AskedWall, type CommandWall, isWallWithin, narrowerWall, UNHELD, wallOnly } from '#proto';
import type { PersonsWord } from './decide/approvals.js';
import { asked, commandAsk, constellation, device, fleet, Story, submit, verb, withAgents } from './testing/given.js';
import { viewOf } from './views/view.js';

const ID = 'run-1.a.1.1.0';
const NEXT = 'run-1.a.1.2.0';
const [ANNA, BERT, CARLA] = ['anna', 'bert', 'carla'].map((id): Actor => ({ kind: 'person', id })) as [
  Actor,
  Actor,
  Actor,
];
const FLEET = withAgents(fleet([device('web-1', { tasksMax: 9 })]));
const PLAN = constellation([{ id: 'a', command: undefined as never }]);
const SHOWN: AskedWall = { kind: 'write', views: [], internet: true, reason: 'so it is', runsAs: '65533' };
const WIDER: CommandWall = { kind: 'write', views: [], internet: true, writable: ['/srv/app'] };
type Yes = Extract<PersonsWord, { verb: 'APPROVE' }>;

function waiting(wall: AskedWall | undefined, approvals = 1): Story {
  const story = new Story().on(FLEET).approvedBy('anna', 'bert', 'carla');
  const ask = commandAsk(ID, { grantable: true, ...(wall && { wall }) });
  return story
    .when(submit(PLAN, { requestedBy: { kind: 'external', id: 'ci' }, options: { approvals } }))
    .when(asked(ask));
}

let said = 0;
const approve = (change: Partial<Yes> = {}, by: Actor = BERT) =>
  verb({ verb: 'APPROVE', approvalId: ID, ...change }, `said-${said++}`, by);
const again = (wall?: AskedWall) => asked(commandAsk(NEXT, { grantable: true, ...(wall && { wall }) }));
const decided = ({ run }: Story) => run.approvals.decided.at(-1);
/** What the last decision gives, as everybody reads it. */
const given = (story: Story): CommandWall => {
  const one = decided(story);
  return wallOnly(one?.wall ?? (one?.ask.kind === 'approval' ? one.ask.wall : undefined) ?? UNHELD);
};

describe('what an approval gives', () => {
  it('is what was shown, where nothing else is said', () => {
    const story = waiting(SHOWN).when(approve());
    expect(decided(story)).not.toHaveProperty('wall');
    expect(given(story)).toEqual(wallOnly(SHOWN));
    expect(viewOf(story.run).approvals[0]).not.toHaveProperty('wall');
  });

  it('is what the person says, where he says it, and everybody can read it', () => {
    const story = waiting(SHOWN).when(approve({ wall: WIDER }));
    expect(given(story)).toEqual(WIDER);
    expect(viewOf(story.run).approvals[0]).toMatchObject({ wall: WIDER, ask: { wall: SHOWN } });
  });

  it('of several persons is what each of them gives', () => {
    const first = waiting(SHOWN, 2).when(approve({ wall: UNHELD }, ANNA));
    expect(viewOf(first.run).approvals[0]?.given).toMatchObject([{ by: ANNA, wall: UNHELD }]);
    expect(given(first.when(approve({}, BERT)))).toEqual(wallOnly(SHOWN));
    const both = waiting(SHOWN, 2)
      .when(approve({ wall: UNHELD }, ANNA))
      .when(approve({ wall: WIDER }, CARLA));
    expect(given(both)).toEqual(WIDER);
  });

  it('can be said anew by who has said it before', () => {
    const story = waiting(SHOWN, 2)
      .when(approve({ wall: UNHELD }, ANNA))
      .when(approve({}, ANNA))
      .when(approve({}, BERT));
    expect(given(story)).toEqual(wallOnly(SHOWN));
  });
});

describe('a grant', () => {
  it('covers the same wall and a smaller one, and gives what it gave', () => {
    for (const shown of [SHOWN, { kind: 'read', views: [] } as const]) {
      const story = waiting(SHOWN)
        .when(approve({ grantMs: 60_000, wall: WIDER }))
        .when(again(shown));
      expect(decided(story)).toMatchObject({ state: 'approved', ask: { approvalId: NEXT }, wall: WIDER });
    }
    const same = waiting(SHOWN)
      .when(approve({ grantMs: 60_000 }))
      .when(again(SHOWN));
    expect(decided(same)).toMatchObject({ ask: { approvalId: NEXT } });
    expect(given(same)).toEqual(wallOnly(SHOWN));
  });

  it('does not cover a wider one: a person is asked', () => {
    for (const shown of [WIDER, UNHELD, undefined]) {
      const story = waiting(SHOWN)
        .when(approve({ grantMs: 60_000 }))
        .when(again(shown));
      expect([...story.run.approvals.open.keys()]).toEqual([NEXT]);
    }
  });

  it('that was given before anybody was shown anything gives no more than is shown', () => {
    const story = waiting(undefined)
      .when(approve({ grantMs: 60_000 }))
      .when(again(SHOWN));
    expect(decided(story)).toMatchObject({ ask: { approvalId: NEXT } });
    expect(given(story)).toEqual(wallOnly(SHOWN));
  });
});

const walls: fc.Arbitrary<CommandWall> = fc.record(
  {
    kind: fc.constantFrom('read', 'write', 'none'),
    views: fc.subarray(['host-processes', 'loopback'] as const),
    internet: fc.constant(true),
    writable: fc.uniqueArray(fc.constantFrom('/srv', '/srv/app', '/data'), { maxLength: 2 }),
  },
  { requiredKeys: ['kind', 'views'] },
);

it('nothing is ever given that is wider than what was shown, unless everybody who decided it has said so', () => {
  const word = fc.option(walls, { nil: undefined });
  fc.assert(
    fc.property(walls, word, word, fc.boolean(), (shown, first, second, isTwo) => {
      const words = isTwo ? [first, second] : [first];
      const story = waiting(shown, words.length);
      for (const [at, wall] of words.entries()) story.when(approve(wall ? { wall } : {}, at === 0 ? ANNA : BERT));
      for (const wall of words) expect(isWallWithin(given(story), wall ?? shown)).toBe(true);
      expect(isWallWithin(given(story), words.map((wall) => wall ?? shown).reduce(narrowerWall))).toBe(true);
    }),
  );
});
