import { describe, expect, it } from '@jest/globals';
import type { FleetEvent } from '#proto';
import { decideHandBack, decideTakeOver } from './take-over.js';
import { ANNA, at, connected, enrolled, given, HELD, held, released, T0, toolsChanged } from './testing/given.js';

const BERT = { kind: 'person', id: 'bert' } as const;
const ORDER = { by: ANNA, reason: 'a dialog', now: T0 };
const tool = (name: string) => ({ name, description: '', readOnly: false });
const desk = [enrolled(), connected('s1'), toolsChanged('s1', [tool('click_input')])];
const taken: FleetEvent = { type: 'DEVICE_HELD', data: { by: ANNA, reason: 'a dialog', heldAt: at(0), screen: true } };
const handedBack = (by = ANNA): FleetEvent => ({
  type: 'DEVICE_RELEASED',
  data: { by, releasedAt: at(0), screen: true },
});

describe('a screen', () => {
  it('is taken over by the first who wants it, and says who has it', () => {
    expect(decideTakeOver(given(...desk), ORDER)).toEqual({ kind: 'accepted', events: [taken] });
    expect(decideTakeOver(given(...desk, taken), { ...ORDER, by: BERT })).toEqual({
      kind: 'ignored',
      reason: 'ALREADY_HELD',
    });
    expect(given(...desk, taken)).toMatchObject({ taken: taken.data, held: null, handedBackAt: null });
  });

  it('is handed back by any operator, and says when', () => {
    expect(decideHandBack(given(...desk, taken), { by: BERT, now: T0 })).toEqual({
      kind: 'accepted',
      events: [handedBack(BERT)],
    });
    expect(given(...desk, taken, handedBack())).toMatchObject({ taken: null, handedBackAt: at(0) });
    expect(decideHandBack(given(...desk), ORDER)).toEqual({ kind: 'ignored', reason: 'NOT_HELD' });
  });

  it('is there only where a tool acts on one', () => {
    const looks = given(enrolled(), connected('s1'), toolsChanged('s1', [tool('texts'), tool('EXEC_CLI')]));
    expect(decideTakeOver(looks, ORDER)).toEqual({ kind: 'rejected', reason: 'NO_SCREEN' });
    expect(decideTakeOver(given(enrolled()), ORDER)).toEqual({ kind: 'rejected', reason: 'NO_SCREEN' });
    for (const decide of [decideTakeOver, decideHandBack]) {
      expect(decide(undefined, ORDER)).toEqual({ kind: 'ignored', reason: 'NOT_ENROLLED' });
    }
  });

  it('and a hold of its device do not end each other', () => {
    expect(given(...desk, held(), taken, handedBack())).toMatchObject({ held: HELD, taken: null });
    expect(given(...desk, held(), taken, released())).toMatchObject({ held: null, taken: taken.data });
  });
});
