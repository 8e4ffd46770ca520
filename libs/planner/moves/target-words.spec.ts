import { describe, expect, it } from '@jest/globals';
import { checkTarget } from '#libs/constellation';
import { device, fleet, star } from './given.testing.js';
import { targetWords } from './target-words.js';

const REVOKED = { revoked: { by: { kind: 'person' as const, id: 'alice' }, revokedAt: '2026-01-01T00:00:00.000Z' } };
const view = fleet([
  device('web-1'),
  device('web-2'),
  device('db-primary'),
  device('gone', { revoked: { ...REVOKED.revoked } as never }),
]);

function wordsFor(target: Parameters<typeof star>[1], on = view): string {
  const task = star('a', target);
  const issue = checkTarget(task, on);
  if (issue === undefined) throw new Error('nothing is wrong');
  return targetWords(issue, task.target, on);
}

describe('what is wrong with a device', () => {
  it.each([
    ['web1', 'did you mean web-1?'],
    ['WEB_2', 'did you mean web-2?'],
    ['web', 'did you mean web-1, web-2?'],
    ['db-primry', 'did you mean db-primary?'],
    ['primary', 'did you mean db-primary?'],
  ])('says for %s: %s', (said, meant) => {
    expect(wordsFor({ target: { device: said } })).toBe(
      `no device "${said}" is enrolled; devices are db-primary, web-1, web-2; ${meant}`,
    );
  });

  it('guesses nothing for a name that is like no other', () => {
    expect(wordsFor({ target: { device: 'mailserver' } })).toBe(
      'no device "mailserver" is enrolled; devices are db-primary, web-1, web-2',
    );
  });

  it('offers no device that was revoked', () => {
    expect(wordsFor({ target: { device: 'gone' } })).toBe(
      'the device "gone" is revoked; devices are db-primary, web-1, web-2',
    );
  });

  it('says that there is none where there is none', () => {
    expect(wordsFor({ target: { device: 'web-1' } }, fleet([]))).toBe(
      'no device "web-1" is enrolled; devices are none',
    );
  });

  it('leaves what is said of selectors and tools as it is', () => {
    expect(wordsFor({ target: { tags: ['gpu'] } })).toBe(
      'no enrolled device can satisfy {"tags":["gpu"]}; known devices are db-primary, web-1, web-2',
    );
    expect(wordsFor({ command: { tool: 'FLY', arguments: {} } })).toBe(
      'no device that satisfies the target has the tool "FLY"; known are EXEC_CLI, SYS_INFO',
    );
  });
});
