import { describe, expect, it } from '@jest/globals';
import { bitsOf, ROLES } from '#libs/screen';
import type { Accessible, AccessibleFacts, AccessibleNode } from '../access/index.js';
import type { Reach } from './connection.runner.js';
import { focusSeen, isStillFocused, lookForFocus } from './focus.runner.js';

const WINDOW = { handle: 1, process: 2 };
const FRAME = 23;
const at = (path: string): Accessible => ({ bus: ':1.1', path });
const HAS = bitsOf('focused', 'showing');
const SHOWN = bitsOf('showing');

const factsOf = (path: string, role: number, isFocused: boolean, childCount = 0): AccessibleFacts => ({
  at: at(path),
  role,
  name: '',
  states: isFocused ? HAS : SHOWN,
  childCount,
  rect: [0, 0, 10, 10],
  moved: [0, 0],
});
const node = (facts: AccessibleFacts, children: readonly AccessibleNode[] = []): AccessibleNode => ({
  ...facts,
  children,
});

/** A program whose things say this, and which finds these when it is asked for what has the keyboard. */
const program = (things: readonly AccessibleFacts[], found: readonly string[] | undefined): Pick<Reach, 'tree'> => ({
  tree: {
    facts: ({ path }: Accessible) => {
      const facts = things.find((one) => one.at.path === path);
      return facts === undefined ? Promise.reject(new Error('it is gone')) : Promise.resolve(facts);
    },
    focusedIn: ({ path }: Accessible) => Promise.resolve(path === 'frame' ? found?.map(at) : []),
  } as Reach['tree'],
});

describe('a page that had the keyboard', () => {
  const page = factsOf('page', ROLES.webDocument, true, 2);
  const password = factsOf('password', ROLES.password, false);
  const seen = focusSeen(WINDOW, node(factsOf('frame', FRAME, false, 1), [node(page, [node(password)])]));
  const isStill = (things: readonly AccessibleFacts[], found: readonly string[] | undefined): Promise<boolean> => {
    if (seen === undefined) throw new Error('nothing had the keyboard');
    return isStillFocused(seen, WINDOW, program(things, found));
  };

  it('has it still when its browser finds it in all of the window, and nothing else', async () => {
    expect(await isStill([page, password], ['page'])).toBe(true);
  });

  it.each([
    ['finds a field in it', ['field']],
    ['finds a field beside it', ['page', 'field']],
    ['finds nothing, not even the page', []],
    ['is not asked like that', undefined],
  ])('is not said to have it by a browser that %s', async (_, found) => {
    expect(await isStill([page, password], found)).toBe(false);
  });

  it('is not said to have it when it says so no more, is gone, or a password field has it', async () => {
    expect(await isStill([{ ...page, states: SHOWN }, password], ['page'])).toBe(false);
    expect(await isStill([password], ['page'])).toBe(false);
    expect(await isStill([page, { ...password, states: HAS }], ['page'])).toBe(false);
  });

  it('is the one of its window only', async () => {
    expect(seen && (await isStillFocused(seen, { ...WINDOW, handle: 3 }, program([page, password], ['page'])))).toBe(
      false,
    );
  });
});

describe('another thing that had the keyboard', () => {
  const still = async (facts: AccessibleFacts): Promise<boolean | undefined> => {
    const seen = focusSeen(WINDOW, node(factsOf('frame', FRAME, false, 1), [node(facts)]));
    return seen && isStillFocused(seen, WINDOW, program([facts], [facts.at.path]));
  };

  it('has it still when it says so and has nothing in it, or more than is ever entered', async () => {
    expect(await still(factsOf('field', 79, true))).toBe(true);
    expect(await still(factsOf('sheet', ROLES.table, true, 2_000_000_000))).toBe(true);
  });

  it('is not asked about with all of its window when it has something in it: a sheet may be there', async () => {
    expect(await still(factsOf('panel', 39, true, 2))).toBe(false);
  });
});

describe('a window in which nothing is named as having the keyboard', () => {
  const WHOLE = { ...WINDOW, rawTitle: 'Shop', rect: [0, 0, 10, 10] } as const;
  const frame = (...inside: AccessibleNode[]): AccessibleNode => node(factsOf('frame', FRAME, false, 1), inside);
  const page = node(factsOf('page', ROLES.webDocument, false));
  const password = (isFocused: boolean): AccessibleNode => node(factsOf('password', ROLES.password, isFocused));

  /** Looks at these, one after the other and then always at the last, half a second each. */
  function look(...roots: readonly (AccessibleNode | undefined)[]): ReturnType<typeof lookForFocus> {
    let looks = 0;
    const of = (): Promise<unknown> => {
      const root = roots[Math.min(looks++, roots.length - 1)];
      return Promise.resolve(root && { root, isCut: false });
    };
    return lookForFocus(WHOLE, { tree: { of } as unknown as Reach['tree'] }, () => looks * 500);
  }

  it.each([
    ['a page', page],
    ['a page in something', node(factsOf('panel', 39, false), [page])],
    ['a password field', password(false)],
    ['a terminal', node(factsOf('terminal', ROLES.terminal, false))],
  ])('gets no keys with %s in it: what is not named may be a password field', async (_, inside) => {
    await expect(look(frame(inside))).rejects.toThrow(/^WINDOW_CHANGED: .* it may be a password field; list again/u);
  });

  it('is looked at again, until it is named', async () => {
    expect((await look(frame(page), frame(page, password(true))))?.focused).toMatchObject({ role: ROLES.password });
  });

  it('gets keys when nothing in it could be guarded, or its program tells nothing at all', async () => {
    expect(await look(frame(node(factsOf('panel', 39, false))))).toBeUndefined();
    expect(await look(undefined)).toBeUndefined();
  });
});
