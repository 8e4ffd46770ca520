import { describe, expect, it } from '@jest/globals';
import type { AgentProfile } from '#proto';
import { handsOn, whyEnded } from './standing.js';

const taken = (id: string): NonNullable<AgentProfile['taken']> => ({
  by: { kind: 'person', id },
  reason: '',
  heldAt: '2026-11-28T10:00:00.000Z',
});

describe('who has a screen', () => {
  it('is agents until somebody takes it over, and then that person alone acts', () => {
    expect(handsOn(undefined, 'anna', false)).toMatchObject({
      mayAct: false,
      words: expect.stringContaining('agents act'),
    });
    expect(handsOn(taken('bert'), 'anna', false)).toMatchObject({
      mayAct: false,
      words: expect.stringMatching(/^bert has/u),
    });
    expect(handsOn(taken('anna'), 'anna', false)).toMatchObject({ mayAct: true });
  });

  it('is acted on by nobody of whom nothing is known, and not where there is no room', () => {
    expect(handsOn(taken('anna'), undefined, false).mayAct).toBe(false);
    expect(handsOn(taken('anna'), 'anna', true)).toMatchObject({
      mayAct: false,
      words: expect.stringContaining('look only'),
    });
  });
});

describe('a view that is over', () => {
  it('says why, in the words of who has ended it', () => {
    const why = (code: number, reason: string, wasLive = true): string => whyEnded({ code, reason, wasLive });
    expect(why(1001, 'the console stops')).toContain('The console stops');
    expect(why(1008, 'the login is over')).toContain('the login is over');
    expect(why(1011, 'the screen is gone')).toContain('is gone');
    expect(why(1011, 'it cannot be reached', false)).toContain('cannot be seen now: it cannot be reached');
  });

  it('is no word of the console where the viewer gave up', () =>
    expect(whyEnded({ code: 1005, reason: '', wasLive: false })).toContain('cannot be read'));

  it('tells what broke off from what was never let in, where nobody says a reason', () => {
    expect(whyEnded({ code: 1006, reason: '', wasLive: true })).not.toBe(
      whyEnded({ code: 1006, reason: '', wasLive: false }),
    );
  });
});
