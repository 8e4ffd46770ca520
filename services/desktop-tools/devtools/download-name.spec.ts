import { describe, expect, it } from '@jest/globals';
import { FileName } from '#proto';
import { downloadNameOf, numberedName } from './download-name.js';

describe('the name of a download', () => {
  it.each([
    ['report.csv', 'report.csv'],
    ['Bericht über März.pdf', 'Bericht über März.pdf'],
    ['../../.profile', 'profile'],
    ['..\\..\\autorun.inf', 'autorun.inf'],
    ['_.._.bashrc', 'bashrc'],
    ['-rf', 'rf'],
    ['a\u202Efdp.exe', 'a_fdp.exe'],
    ['a;$(reboot)`.txt', 'a__(reboot)_.txt'],
    ['a\n\0b', 'a__b'],
    ['..', 'download'],
    ['', 'download'],
    ['/', 'download'],
  ])('%j is %s', (suggested, name) => expect(downloadNameOf(suggested)).toBe(name));

  it.each(['x'.repeat(5_000), `${'ü'.repeat(500)}.tar`, '😀'.repeat(200), `a.${'b'.repeat(300)}`, '\uD800.txt'])(
    'is one that files of a run may have, whatever was suggested',
    (suggested) => expect(FileName.safeParse(downloadNameOf(suggested)).success).toBe(true),
  );

  it('keeps its end when it has a number', () =>
    expect([numberedName('a.csv', 1), numberedName('a.csv', 2), numberedName('a', 3)]).toEqual([
      'a.csv',
      'a-2.csv',
      'a-3',
    ]));
});
