import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { verifyChain, type ChainedCommit } from '#libs/event-log';

/** Commits of the golden corpus, as they are stored: their hashes can never come out differently. */
function commits(...files: string[]): ChainedCommit[] {
  return files.map((file) => {
    const text = readFileSync(new URL(`../../proto/fixtures/${file}.json`, import.meta.url), 'utf8');
    return (JSON.parse(text) as { message: ChainedCommit }).message;
  });
}

describe('the hash chain of the golden corpus', () => {
  it.each([
    { of: 'a run', files: ['RunCommit/1-first', 'RunCommit/1-second'] },
    { of: 'an attempt', files: ['AttemptCommit/1-end'] },
    { of: 'a device', files: ['FleetCommit/1-enrolled'] },
    { of: 'the whole fleet', files: ['FleetCommit/1-whole-fleet-held', 'FleetCommit/1-whole-fleet-released'] },
  ])('of $of is intact', ({ files }) => {
    expect(verifyChain(commits(...files))).toEqual([]);
  });

  it('breaks with any change', () => {
    const [first, second] = commits('RunCommit/1-first', 'RunCommit/1-second') as [ChainedCommit, ChainedCommit];
    const changed = { ...first, at: '2026-11-20T10:00:00.001Z' };
    expect(verifyChain([changed, second]).map(({ kind, number }) => ({ kind, number }))).toEqual([
      { kind: 'hash', number: 1 },
    ]);
  });
});
