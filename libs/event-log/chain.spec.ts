import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { GENESIS_HASH, RunCommit } from '#proto';
import { encodeCommit } from './chain.js';
import { hashCommit, sealCommit, verifyChain } from './sealing.js';
import type { ChainedCommit } from './chain.js';
import { headOf, sampleId, sampleRunCommit, START } from './sample-commits.testing.js';

const decode = (bytes: Uint8Array): ChainedCommit & Record<string, unknown> =>
  JSON.parse(new TextDecoder().decode(bytes)) as ChainedCommit & Record<string, unknown>;

function threeCommits(): (ChainedCommit & Record<string, unknown>)[] {
  const first = sampleRunCommit('r1', START, sampleId(1));
  const second = sampleRunCommit('r1', headOf([first]), sampleId(2));
  const third = sampleRunCommit('r1', headOf([first, second]), sampleId(3));
  return [first, second, third].map((commit) => decode(encodeCommit(commit)));
}

describe('sealCommit', () => {
  it('hashes the sorted keys, the well-known way, so that another program can check it', () => {
    const sealed = sealCommit({ number: 1, b: [1.5, 'ä', null], a: { d: true, c: 0 } }, GENESIS_HASH);
    const canonical = `{"a":{"c":0,"d":true},"b":[1.5,"ä",null],"number":1,"prevHash":"${GENESIS_HASH}"}`;
    expect(sealed.hash).toBe(createHash('sha256').update(canonical).digest('hex'));
  });

  it('stores exactly the commit it returned', () => {
    const commit = sampleRunCommit('r1', START, sampleId(1), 'lines\nand "quotes" and \u2028');
    expect(decode(encodeCommit(commit))).toEqual(commit);
    expect(RunCommit.parse(decode(encodeCommit(commit)))).toEqual(commit);
  });

  it('stores a commit that was sealed elsewhere with the same hash', () => {
    const copy = { ...sampleRunCommit('r1', START, sampleId(1)) };
    expect(hashCommit(decode(encodeCommit(copy)))).toBe(copy.hash);
  });

  it('refuses a string that has no canonical form', () => {
    expect(() => sampleRunCommit('r1', START, sampleId(1), '\uD800')).toThrow('Lone surrogate');
  });
});

describe('verifyChain', () => {
  it('accepts what was sealed in order', () => {
    expect(verifyChain(threeCommits())).toEqual([]);
    expect(verifyChain([])).toEqual([]);
    expect(verifyChain(threeCommits().slice(1), { fromStart: false })).toEqual([]);
  });

  it('covers fields that no schema knows', () => {
    const [first, ...rest] = threeCommits();
    expect(verifyChain([{ ...first, note: 'added later' } as never, ...rest])).toMatchObject([
      { kind: 'hash', number: 1 },
    ]);
  });

  it('names a changed commit, even one whose hash was made to fit', () => {
    const [first, second, third] = threeCommits();
    const changed = { ...second, at: '2026-11-20T15:40:40.490Z' };
    expect(verifyChain([first, changed, third] as never)).toMatchObject([{ kind: 'hash', number: 2 }]);
    const rehashed = { ...changed, hash: hashCommit(changed) };
    expect(verifyChain([first, rehashed, third] as never)).toMatchObject([{ kind: 'prev-hash', number: 3 }]);
  });

  it('notices a commit that is missing, doubled or moved', () => {
    const [first, second, third] = threeCommits();
    const kinds = (commits: unknown[]) => [...new Set(verifyChain(commits as never).map(({ kind }) => kind))];
    expect(kinds([first, third])).toEqual(['number', 'prev-hash', 'event-sequence']);
    expect(kinds([second, third])).toEqual(['number', 'prev-hash', 'event-sequence']);
    expect(kinds([first, first, second, third])).toEqual(['number', 'prev-hash', 'event-sequence']);
    expect(kinds([first, third, second])).toEqual(['number', 'prev-hash', 'event-sequence']);
  });
});
