import { describe, expect, it } from '@jest/globals';
import { JetStreamApiError } from '@nats-io/jetstream';
import { CannotStoreError, isOverLimit, overLimit, refusalOfFault, storeFaultOf, writeFault } from './store.adapter.js';

const WRITE = "JetStream stream 'ORRERY > RUNS' write error: write /data/jetstream/RUNS/msgs/2.blk: ";
const apiError = (code: number, err_code: number, description: string): JetStreamApiError =>
  new JetStreamApiError({ code, err_code, description });

describe('what nats-server says of its health', () => {
  it.each([
    [`${WRITE}no space left on device`, 'disk-full', 'the disk of nats-server is full'],
    [`${WRITE}disk quota exceeded`, 'disk-full', 'the disk of nats-server is full'],
    [`${WRITE}input/output error`, 'failed', 'nats-server could not write to its disk (input/output error)'],
  ])('%s', (said, kind, why) => expect(writeFault(said)).toEqual({ kind, why }));

  it.each(['', "JetStream stream 'ORRERY > RUNS' is not current"])('and is no matter of the disk: "%s"', (said) =>
    expect(writeFault(said)).toBeUndefined(),
  );
});

describe('what nats-server answers to a write', () => {
  it.each([
    [503, 10_023, 'insufficient resources', true],
    [400, 10_002, 'resource limits exceeded for account', true],
    [500, 10_047, 'insufficient storage resources available', true],
    [503, 10_077, 'maximum bytes exceeded', true],
    [503, 10_077, 'maximum messages per subject exceeded', false],
    [400, 10_071, 'wrong last sequence: 1', false],
    [503, 10_008, 'system temporarily unavailable', false],
  ])('%i %i %s', (code, errCode, text, isFull) => {
    expect(isOverLimit(apiError(code, errCode, text))).toBe(isFull);
  });

  it('is found behind what it caused, and nowhere else', () => {
    const error = new Error('not appended', { cause: new Error('not sent', { cause: overLimit(undefined) }) });
    expect(storeFaultOf(error)).toMatchObject({ kind: 'limit' });
    expect(storeFaultOf(new Error('no', { cause: 'no' }))).toBeUndefined();
  });
});

describe('what is told to who wanted something stored', () => {
  it.each([
    ['disk-full', 'STORAGE_FULL'],
    ['limit', 'STORAGE_FULL'],
    // Perhaps it was stored before the disk failed.
    ['failed', 'TRY_AGAIN'],
  ] as const)('%s', (kind, code) => {
    const refusal = refusalOfFault({ kind, why: 'it is so' });
    expect(refusal).toMatchObject({ code, issues: [], message: expect.stringContaining('because it is so.') });
    expect(new CannotStoreError({ kind, why: 'it is so' }).message).toBe('It cannot be stored: it is so.');
  });
});
