import { describe, expect, it } from '@jest/globals';
import { onlyPrints } from './awk.js';
import { isTextOnly } from './sed.js';

describe('a program of sed', () => {
  it.each([
    '1,20p',
    's/a/b/g',
    's|a|b|2p',
    '/x/,/y/d',
    '$!N;P;D',
    'y/abc/xyz/',
    '/^#/d',
    '3q',
    ':a;s/x/y/;ta',
    's/a\\/b/c/',
  ])('%j only changes text', (script) => expect(isTextOnly(script)).toBe(true));
  it.each([
    '1e id',
    'e',
    's/x/id/e',
    's/x/y/w /f',
    'w /f',
    'r /f',
    '/x/e id',
    's/a/b/;e',
    'R f',
    '1{e id\n}',
    's/a',
    'F',
    's/[/]/e id/',
  ])('%j may do more', (script) => expect(isTextOnly(script)).toBe(false));
});

describe('a program of awk', () => {
  it.each([
    '{print $1}',
    '$3 > 80',
    '/a|b/ {print}',
    'NR > 1 {s += $2} END {print s / NR}',
    '{printf "%s\\n", $1}',
    '$1 ~ /x/ || $2',
  ])('%j only prints', (program) => expect(onlyPrints(program)).toBe(true));
  it.each([
    'BEGIN{system("id")}',
    '{print > "/f"}',
    '{print "a",\n"b" > "/f"}',
    '{print | "sh"}',
    '"id" | getline x',
    '@load "x"',
    'BEGIN{f="system"; @f("id")}',
    '{print ENVIRON["X"]}',
    '{ if (1) /"/; print "x" > "/f"; /"/ }',
    '/[/]"/ { system("id") } /"/',
    '"',
  ])('%j may do more', (program) => expect(onlyPrints(program)).toBe(false));
});
