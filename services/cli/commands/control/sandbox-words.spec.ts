import { describe, expect, it } from '@jest/globals';
import type { AskedWall } from '#proto';
import { wallBy } from './sandbox-words.js';

const SHOWN: AskedWall = { kind: 'write', views: ['host-processes'], writable: ['/srv/app'], reason: 'so it is' };
const { reason: _, ...SAME } = SHOWN;

describe('the words of --sandbox', () => {
  it.each([
    [['internet'], { ...SAME, internet: true }],
    [['writable=/data', 'internet'], { ...SAME, internet: true, writable: ['/srv/app', '/data'] }],
    [['writable=/srv/app'], SAME],
    [['none'], { kind: 'none', views: SAME.views }],
    [['read'], { ...SAME, kind: 'read' }],
  ])('%j are added to what is shown', (words, wall) => expect(wallBy(words, SHOWN)).toEqual(wall));

  it('make a wall around what has none only when they say which', () => {
    expect(wallBy(['write', 'internet'], { kind: 'none', views: [] })).toEqual({
      kind: 'write',
      views: [],
      internet: true,
    });
    expect(wallBy(['none'], undefined)).toEqual({ kind: 'none', views: [] });
    expect(() => wallBy(['internet'], undefined)).toThrow('say --sandbox write, too');
  });

  it.each([
    [['everything'], '"everything" is none of read, write, none, internet and writable=<absolute path>'],
    [['read', 'write'], 'say one of read and write'],
    [['none', 'internet'], 'what has no wall may do that already'],
    [['writable=srv'], 'must be an absolute path'],
  ])('%j are none, and it is said why', (words, why) => expect(() => wallBy(words, SHOWN)).toThrow(why));
});
