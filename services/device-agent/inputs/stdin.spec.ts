import { describe, expect, it } from '@jest/globals';
import { AIP_LIMITS, type StdinPart } from '#proto';
import { bytesOf, inlineTexts, withParts, withText } from './stdin.js';

const command = (stdin: object | string, tool = 'EXEC_CLI') => ({
  tool,
  arguments: { command: 'cat', stdin: stdin as string },
});
const artifact = (bytes: number): StdinPart => ({ artifact: { sha256: 'a'.repeat(64), bytes } });

describe('withText', () => {
  it('changes no other argument and not the order itself', () => {
    const call = command({ from: ['a'] });
    const before = structuredClone(call);
    expect(withText(call, 'A')).toEqual(command('A'));
    expect(call).toEqual(before);
  });

  it('takes what fits into a request and nothing more', () => {
    expect(withText(command(''), 'x'.repeat(AIP_LIMITS.commandBytesMax - 8 * 1024))).not.toBeNull();
    expect(withText(command(''), 'x'.repeat(AIP_LIMITS.commandBytesMax))).toBeNull();
    // Escapes count, too: a line end is two bytes in JSON.
    expect(withText(command(''), '\n'.repeat(AIP_LIMITS.commandBytesMax / 2))).toBeNull();
  });
});

describe('withParts', () => {
  it('puts the pieces in for the tool of the device, and for no other', () => {
    const parts = [{ text: 'a' }, artifact(5)];
    expect(withParts(command({ from: ['a'] }), parts)).toEqual(command({ parts }));
    expect(withParts(command({ from: ['a'] }, 'other'), parts)).toBeNull();
  });

  it('takes no list that is too long', () => {
    expect(
      withParts(
        command(''),
        Array.from({ length: 4_001 }, () => artifact(1)),
      ),
    ).toBeNull();
  });
});

describe('inlineTexts', () => {
  it('leaves texts in the command as long as there is room', () => {
    const [short, long, last] = [{ text: 'a' }, { text: 'x'.repeat(300_000) }, { text: 'ä' }];
    expect([...inlineTexts([short, artifact(9), long, last])]).toEqual([short, last]);
    expect([short, artifact(9), last].map(bytesOf)).toEqual([1, 9, 2]);
  });
});
