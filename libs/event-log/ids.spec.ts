import { describe, expect, it } from '@jest/globals';
import { RunId } from '#proto';
import { newCommitId, runIdOf } from './ids.js';

describe('runIdOf', () => {
  it('is the same for ever', () => {
    expect(runIdOf('default', 'backup-2026-11-20')).toBe('2x0pq1hjt3gzsfa51c01nmpck7');
  });

  it('is a run id of 26 characters', () => {
    const runId = runIdOf('default', 'r');
    expect(runId).toMatch(/^[0-9a-z]{26}$/);
    expect(RunId.parse(runId)).toBe(runId);
  });

  it('keeps namespaces and request ids apart', () => {
    const ids = [runIdOf('a', 'bc'), runIdOf('ab', 'c'), runIdOf('a', 'b'), runIdOf('b', 'a')];
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('newCommitId', () => {
  it('is a ULID that sorts by time', () => {
    const earlier = newCommitId(1_763_653_240_489);
    const later = newCommitId(1_763_653_240_490);
    expect(earlier).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(earlier.slice(0, 10) < later.slice(0, 10)).toBe(true);
    expect(newCommitId(1_763_653_240_489)).not.toBe(earlier);
  });
});
