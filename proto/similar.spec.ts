import { describe, expect, it } from '@jest/globals';
import { meantName } from './index.js';

const FIELDS = ['command', 'condition', 'device', 'name', 'target', 'timeoutMs', 'to', 'type'];

describe('a name that nobody knows', () => {
  it.each([
    ['comand', 'command'],
    ['commnad', 'command'],
    ['Command', 'command'],
    ['deviceId', 'device'],
    ['timeout', 'timeoutMs'],
    ['timeout_ms', 'timeoutMs'],
    ['conditon', 'condition'],
    ['tagret', 'target'],
    ['types', 'type'],
    ['nmae', 'name'],
    ['xyz', undefined],
    ['verify', undefined],
    ['', undefined],
    ['c'.repeat(100), undefined],
  ])('%j is a slip of the pen for %j', (written, meant) => expect(meantName(written, FIELDS)).toBe(meant));

  it('is the nearest one of several', () => expect(meantName('statuses', ['state', 'stats', 'status'])).toBe('status'));
});
