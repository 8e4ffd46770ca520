import { describe, expect, it } from '@jest/globals';
import { attentionIdOf, NO_COMMITS, sealNext } from '#libs/event-log';
import { keepProof, proveActor } from '#libs/keys';
import { subjects, type AttentionEvent } from '#proto';
import { auditChain } from './audit-attention.js';
import { auditRun } from './audit-run.js';
import { parseExport, recordsByRun, renderExport, wordsAbout, type ExportRecord } from './export-file.js';
import { findingText } from './findings.js';
import { provenRun } from './proven-run.testing.js';

/* Anna took on that the run failed, and Bob settled it. */

const { ANNA, BOB, logs, ORDERS, RUN, sealed, SEEDS, T0, at } = provenRun;
const KEY = `run ${RUN} failed`;
const ENTRY = attentionIdOf(KEY);
const SUBJECT = subjects.attention(ENTRY);
const ABOUT = { kind: 'failed', key: KEY, runId: RUN } as const;
const TAKE = subjects.query('logging', 'attention-take');
const SETTLE = subjects.query('logging', 'attention-settle');

interface Word {
  readonly event: AttentionEvent;
  readonly subject: string;
  readonly body: { readonly id: string; readonly attentionId: string; readonly reason?: string };
  readonly by: keyof typeof SEEDS | undefined;
  readonly signedAt?: number;
}

const WORDS: readonly Word[] = [
  {
    event: { type: 'ATTENTION_TAKEN', data: { about: ABOUT, by: ANNA, at: at(20) } },
    subject: TAKE,
    body: { id: 'w0', attentionId: ENTRY },
    by: 'anna',
  },
  {
    event: { type: 'ATTENTION_SETTLED', data: { about: ABOUT, by: BOB, at: at(21), reason: 'a new disk' } },
    subject: SETTLE,
    body: { id: 'w1', attentionId: ENTRY, reason: 'a new disk' },
    by: 'bob',
  },
];

/** Whoever writes a file makes all hashes fit. */
function chain(words: readonly Word[], attentionId = ENTRY): ExportRecord[] {
  let end = { ...NO_COMMITS };
  return words.map(({ event, subject, body, by, signedAt = 20 + end.number }, index): ExportRecord => {
    const proof = by && keepProof(proveActor(SEEDS[by], { subject, at: at(signedAt), body }), { subject, body });
    const stamp = { commit: `01JD4Q6Z8W3V5X7Y9A0B1C2F0${index}`, now: T0 + (20 + index) * 60_000 };
    const causes = [{ kind: 'request' as const, id: `w${index}`, ...(proof && { proof }) }];
    const commit = sealNext(end, { attentionId }, [event], {
      ...stamp,
      by: { service: 'logging', instance: 'one' },
      causes,
    });
    end = { ...end, number: commit.number, events: end.events + 1, hash: commit.hash };
    return { stream: 'ATTENTION', subject: subjects.attention(attentionId), sequence: index + 1, commit };
  });
}

const found = (words: readonly ExportRecord[], actors = logs()): string[] =>
  auditRun(RUN, [...sealed(ORDERS), ...words, ...actors])
    .findings.filter(({ stream }) => stream === 'ATTENTION')
    .map(findingText);
const changed = (index: number, change: Partial<Word>): ExportRecord[] =>
  chain(WORDS.map((word, other) => (other === index ? { ...word, ...change } : word)));

describe('what people have said to entries about a run', () => {
  it('is counted where it is as it was written, and proven like every other word', () => {
    const { words, proofs, findings } = auditRun(RUN, [...sealed(ORDERS), ...chain(WORDS), ...logs()]);
    expect([words, proofs.signed, findings.filter(({ stream }) => stream === 'ATTENTION')]).toEqual([2, 5, []]);
  });

  it.each<[string, ExportRecord[], RegExp]>([
    [
      'nobody has signed it',
      changed(0, { by: undefined }),
      /ATTENTION_TAKEN by anna: nothing in this commit proves it/u,
    ],
    ['somebody else has', changed(0, { by: 'bob' }), /bob signed it, and it is recorded in the name of anna/u],
    ['a stranger has', changed(0, { by: 'mallory' }), /is of nobody whose log is there/u],
    ['it was another word', changed(0, { subject: SETTLE }), /it was signed for .*attention-settle/u],
    [
      'it was about another entry',
      changed(0, { body: { id: 'w0', attentionId: '0'.repeat(12) } }),
      /its attentionId is not what is recorded/u,
    ],
    [
      'the reason was another one',
      changed(1, { body: { id: 'w1', attentionId: ENTRY, reason: 'none' } }),
      /its reason is not what is recorded/u,
    ],
    ['it was signed long before', changed(1, { signedAt: -600 }), /it was signed at .*, and the commit is of/u],
    ['the first word is missing', chain(WORDS).slice(1), /ATTENTION \w{12} commit 1: it has the number 2/u],
    [
      'it is about another run',
      changed(1, {
        event: {
          type: 'ATTENTION_SETTLED',
          data: { by: BOB, at: at(21), reason: 'a new disk', about: { ...ABOUT, runId: 'other' } },
        },
      }),
      /it is about other/u,
    ],
    ['its id is another one', chain(WORDS, attentionIdOf('else')), /its id is not that of what it is about/u],
  ])('is found when %s', (_, words, message) => expect(found(words).join('\n')).toMatch(message));

  it('goes along in an export, with its run, and with no other', () => {
    const { records, problems } = parseExport(renderExport([...sealed(ORDERS), ...chain(WORDS)]));
    expect([problems, [...recordsByRun(records).keys()]]).toEqual([[], [RUN]]);
    expect(wordsAbout(RUN, records)).toEqual(chain(WORDS));
    expect(wordsAbout('other', records)).toEqual([]);
  });
});

describe('a chain of the whole installation', () => {
  it('is sound as it was written', () => expect(auditChain('ATTENTION', SUBJECT, chain(WORDS))).toEqual([]));

  it('is not when something of it is missing, altered, or stands elsewhere', () => {
    const [first, second] = chain(WORDS);
    const altered = { commit: { ...(first?.commit as object), at: at(1) } };
    expect(auditChain('ATTENTION', SUBJECT, [])).toHaveLength(1);
    expect(auditChain('ATTENTION', SUBJECT, second === undefined ? [] : [second, second])).not.toEqual([]);
    expect(auditChain('ATTENTION', SUBJECT, [altered])).toEqual([
      { number: 1, message: expect.stringContaining('hash') },
    ]);
    expect(auditChain('ATTENTION', subjects.attention('0'.repeat(12)), chain(WORDS))).toHaveLength(2);
    expect(auditChain('FLEET', subjects.fleet('web-1'), chain(WORDS))).not.toEqual([]);
    expect(auditChain('ATTENTION', SUBJECT, [{ commit: 'no JSON' }])).not.toEqual([]);
  });
});
