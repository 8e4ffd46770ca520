import { describe, expect, it } from '@jest/globals';
import type { Actor } from '#proto';
import { parseActors, renderActors } from './actors-file.js';

const KEY = `U${'A'.repeat(55)}`;
const ANNA: Actor = { kind: 'person', id: 'anna' };

describe('the file of actors', () => {
  it('says what was written into it', () => {
    for (const actors of [new Map<string, Actor>(), new Map([[KEY, ANNA]])]) {
      expect(parseActors(renderActors(actors))).toEqual(actors);
    }
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['no keys', '[]'],
    ['a name instead of a key', JSON.stringify({ anna: ANNA })],
    ['a kind of actor that nobody knows', JSON.stringify({ [KEY]: { kind: 'robot', id: 'anna' } })],
  ])('is not guessed from %s', (_what, text) => {
    expect(parseActors(text)).toBeUndefined();
  });
});
