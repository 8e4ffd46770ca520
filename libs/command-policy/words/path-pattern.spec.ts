import { describe, expect, it } from '@jest/globals';
import { canMeet, glyphsOf, patternGlyphs, pathSet } from './path-pattern.js';
import { resolvePath } from './resolve-path.js';
import { showGlyphs } from './path-pattern.js';
import { literal } from './word.js';

describe('two patterns', () => {
  it.each([
    ['/etc/shadow', '/etc/sh*', true],
    ['/etc/*', '/etc/a/b', false],
    ['/etc/**', '/etc/a/b', true],
    ['/a?c', '/abc', true],
    ['/a?c', '/a/c', false],
    ['/*/b', '/a/*', true],
    ['**/.env', './x/.env', true],
    ['', '**', true],
    ['/a*b*c', '/*x*', true],
    ['/a', '/b*', false],
    ['/a', '/ab', false],
    ['/ab', '/*ab', true],
    ['/aba', '/ab*ba', false],
    ['/**/b', '/a/*c', false],
  ])('%j and %j: %j', (a, b, meet) => {
    expect(canMeet(patternGlyphs(a), patternGlyphs(b))).toBe(meet);
    expect(canMeet(patternGlyphs(b), patternGlyphs(a))).toBe(meet);
  });
});

describe('a set of paths', () => {
  const set = pathSet(['/etc/shadow*', '~/.ssh/**', '**/*.pem']);
  it.each([
    ['/etc/shadow-', '/etc/shadow*'],
    ['/root/.ssh/x', '~/.ssh/**'],
    ['/home/jo/.ssh/x', '~/.ssh/**'],
    ['./a/b.pem', '**/*.pem'],
    ['/etc/passwd', undefined],
  ])('finds %j in %j', (path, found) => expect(set.find(glyphsOf(path))).toBe(found));

  it('knows that a star does not stand for a dot at the beginning', () => {
    expect(set.find(patternGlyphs('/root/*/x'))).toBeUndefined();
    expect(set.find(patternGlyphs('/root/.*/x'))).toBe('~/.ssh/**');
    expect(set.find(patternGlyphs('/etc/*adow'))).toBe('/etc/shadow*');
  });

  it('knows what lies below, and covers only what is surely inside', () => {
    expect(set.below(glyphsOf('/etc'))).toBe('/etc/shadow*');
    expect(set.below(glyphsOf('/srv'))).toBeUndefined();
    expect(set.covers(patternGlyphs('/etc/shadow*'))).toBe(true);
    expect(set.covers(patternGlyphs('/etc/**'))).toBe(false);
  });
});

describe('a path', () => {
  it.each([
    ['x', './x'],
    ['./a//b/./c/..', './a/b'],
    ['/a/../../b', '/b'],
    ['/', '/'],
    ['/proc/self/root/etc', '/etc'],
    ['/proc/1/root/../etc/x', '/etc/x'],
    ['../x', '/**/x'],
    ['~', './~'],
  ])('%j is %j', (text, path) => {
    expect(resolvePath(literal(text), [glyphsOf('.')]).map(showGlyphs)).toEqual([path]);
  });
});
