import { describe, expect, it } from '@jest/globals';
import type { Json, TaskResult } from '#proto';
import { cutParts, cutText } from './cut-parts.js';

const [ENVELOPE, WHOLE] = ['a', 'b'].map((digit) => digit.repeat(64)) as [string, string];
const artifact = { sha256: ENVELOPE, bytes: 588_632 };
const exec = (more: Record<string, Json>): Json => ({ stdout: 'head\ntail', stderr: '', exit_code: 0, ...more });
const told = (result: TaskResult): string[] =>
  cutParts(result).map((part) => {
    const { words, foreign } = cutText(part);
    return [words, ...foreign].join(': ');
  });

describe('what of a result is cut', () => {
  it('is nothing of one that is whole', () => {
    expect(told({ value: exec({ stdout_bytes: 9 }) })).toEqual([]);
    expect(told({ value: 'words' })).toEqual([]);
    expect(told({ value: exec({ stdout: 'ö', stdout_bytes: 2 }) })).toEqual([]);
    expect(told({ value: null })).toEqual([]);
  });

  it('is an output that the device kept apart: the answer that is an artifact, too, has head and tail of it only', () => {
    const value = exec({ stdout_bytes: 1_988_895, stdout_artifact: { sha256: WHOLE, bytes: 1_988_895 } });
    expect(told({ value, cut: ['stdout'], artifact })).toEqual([
      `stdout is cut: the whole has 1988895 bytes: orrery artifacts get ${WHOLE} -o FILE`,
    ]);
  });

  it('is an output that only its event was too small for', () => {
    expect(told({ value: exec({ stdout_bytes: 20_000 }), cut: ['stdout'], artifact })).toEqual([
      `stdout is cut: the whole has 20000 bytes and is the field stdout of an answer that is kept: orrery artifacts get ${ENVELOPE} -o FILE`,
    ]);
    expect(told({ value: exec({}), cut: ['stdout'], artifact })).toEqual([
      `stdout is cut: the whole is the field stdout of an answer that is kept: orrery artifacts get ${ENVELOPE} -o FILE`,
    ]);
  });

  it('is an output that nobody kept, or not all of', () => {
    const problem = 'stdout: the disk is full';
    expect(told({ value: exec({ stdout_bytes: 9_000, artifact_error: problem }) })).toEqual([
      `stdout is cut: the whole has 9000 bytes, and is not kept: ${problem}`,
    ]);
    expect(told({ value: exec({ stdout_bytes: 9_000 }) })).toEqual([
      'stdout is cut: the whole has 9000 bytes, and is not kept',
    ]);
    const some = { sha256: WHOLE, bytes: 100 };
    expect(told({ value: exec({ stdout_bytes: 9_000, stdout_artifact: some, artifact_error: problem }) })).toEqual([
      `stdout is cut: the whole has 9000 bytes, of which 100 are kept: orrery artifacts get ${WHOLE} -o FILE: ${problem}`,
    ]);
  });

  it('is any other answer that was too large', () => {
    const said = `result is cut: the whole has 588632 bytes as JSON: orrery artifacts get ${ENVELOPE} -o FILE`;
    expect(told({ value: 'head and tail', cut: [''], artifact })).toEqual([said]);
    expect(told({ value: { rows: ['x'] }, cut: ['rows[0]'], artifact })).toEqual([said]);
    expect(told({ value: exec({ other: 'x' }), cut: ['other'], artifact })).toEqual([said]);
  });
});
