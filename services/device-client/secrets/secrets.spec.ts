import { describe, expect, it } from '@jest/globals';
import { ExecCliInput } from '../exec/exec-cli.js';
import { secretIn, secretsIn } from './secrets.js';

describe('references to secrets', () => {
  it('are found in variables and standard input, each once, and nowhere else', () =>
    expect(
      secretsIn({
        env: { A: { secret: 'a' }, B: 'plain', C: { secret: 'a' } },
        stdin: { secret: 'b' },
        command: { secret: 'c' },
      }),
    ).toEqual(['a', 'b']));

  it.each([[{}], [{ env: null, stdin: 'text' }], [{ env: ['x'], stdin: 1 }], [{ env: { A: { secret: 1 } } }]])(
    'are not there in %j',
    (args) => expect(secretsIn(args)).toEqual([]),
  );

  it('are arguments of EXEC_CLI as they are', () => {
    const given = { command: 'true', env: { A: { secret: 'db-password' } }, stdin: { secret: 'key' } };
    expect(ExecCliInput.parse(given)).toMatchObject(given);
  });

  it.each([[{ secret: '../x' }], [{ secret: '' }], [{ secret: 'a', more: 1 }], [{}], [4]])('are refused as %j', (ref) =>
    expect(ExecCliInput.safeParse({ command: 'true', env: { A: ref } }).success).toBe(false),
  );
});

describe('the value of a secret', () => {
  it.each([
    ['canary', 'canary'],
    ['canary\n', 'canary'],
    ['canary\r\n', 'canary'],
    ['two\nlines\n\n', 'two\nlines\n'],
    ['äöüäöü', 'äöüäöü'],
  ])('in %j is %j', (text, value) => expect(secretIn(Buffer.from(text))).toEqual({ value }));

  it.each([
    ['short\n', 'has fewer than 6 characters, too few to be told from other text'],
    ['canary\0', 'is not text in UTF-8'],
    ['x'.repeat(20_000), 'has more than 16384 bytes'],
  ])('in %j is none', (text, wrong) => expect(secretIn(Buffer.from(text))).toEqual({ wrong }));

  it('is text', () =>
    expect(secretIn(Buffer.from([0xff, 65, 66, 67, 68, 69, 70]))).toEqual({ wrong: 'is not text in UTF-8' }));
});
