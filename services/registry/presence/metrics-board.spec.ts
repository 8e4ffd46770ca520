import { describe, expect, it } from '@jest/globals';
import type { MeasuredMetrics } from '#proto';
import { at, connected, DEVICE_ID, enrolled, given, presence } from '../given.testing.js';
import { isWorthShowing, MetricsBoard } from './metrics-board.js';
import { profileOf } from '../projections/profile.js';

const GPU = { name: 'A100', memoryMb: 40_000, memoryFreeMb: 20_000, utilisation: 0.5 };
const metrics = (afterMs: number, changes: Partial<MeasuredMetrics> = {}): MeasuredMetrics => ({
  load1: 1,
  memoryFreeMb: 1_000,
  diskFreeMb: 10_000,
  gpus: [GPU],
  at: at(afterMs),
  ...changes,
});

describe('metrics are worth a write', () => {
  it('when none are shown', () => expect(isWorthShowing(null, metrics(0))).toBe(true));

  it.each<[string, Partial<MeasuredMetrics>, boolean]>([
    ['nothing', {}, false],
    ['the load by a quarter', { load1: 1.25 }, false],
    ['the load by more than a quarter', { load1: 1.26 }, true],
    ['the load down by more than a quarter', { load1: 0.7 }, true],
    ['the memory by a tenth', { memoryFreeMb: 900 }, false],
    ['the memory by more than a tenth', { memoryFreeMb: 899 }, true],
    ['the disk by more than a tenth', { diskFreeMb: 11_001 }, true],
    ['the memory of a GPU by more than a tenth', { gpus: [{ ...GPU, memoryFreeMb: 17_999 }] }, true],
    ['the use of a GPU by more than a tenth', { gpus: [{ ...GPU, utilisation: 0.61 }] }, true],
    ['the use of a GPU by less', { gpus: [{ ...GPU, utilisation: 0.59 }] }, false],
    ['the GPUs', { gpus: [] }, true],
  ])('after ten seconds when %s changed', (_what, changes, expected) => {
    expect(isWorthShowing(metrics(0), metrics(10_000, changes))).toBe(expected);
    expect(isWorthShowing(metrics(0), metrics(9_999, changes))).toBe(false);
  });

  it('not for the noise of an idle machine', () =>
    expect(isWorthShowing(metrics(0, { load1: 0.01 }), metrics(10_000, { load1: 0.26 }))).toBe(false));

  it('after a minute, whatever they are, and by another clock at once', () => {
    expect(isWorthShowing(metrics(0), metrics(59_999))).toBe(false);
    expect(isWorthShowing(metrics(0), metrics(60_000))).toBe(true);
    expect(isWorthShowing(metrics(0), metrics(-60_000))).toBe(true);
    expect(isWorthShowing(metrics(0), metrics(-1_000, { load1: 9 }))).toBe(false);
  });
});

describe('the board', () => {
  const device = given(enrolled(), connected('s1'));
  if (device === undefined) throw new Error('no device');
  const stored = profileOf(device, null, metrics(0));
  const look = (board: MetricsBoard, before = stored) => board.toShow(DEVICE_ID, device.session, before);

  it('asks for a write once: what is shown then is not worth another one', () => {
    const board = new MetricsBoard();
    look(board, profileOf(device, null));
    expect(board.take(presence('s1', { metrics: metrics(0) }))).toBe(true);
    expect(look(board, profileOf(device, null))).toEqual(metrics(0));
    expect(board.take(presence('s1', { metrics: metrics(0) }))).toBe(false);
    expect(board.take(presence('s1'))).toBe(false);
  });

  it('leaves what another replica has shown a moment ago', () => {
    const board = new MetricsBoard();
    look(board, profileOf(device, null));
    board.take(presence('s1', { metrics: metrics(5_000, { load1: 9 }) }));
    expect(look(board)).toEqual(metrics(0));
    expect(board.take(presence('s1', { metrics: metrics(9_000, { load1: 9 }) }))).toBe(false);
    expect(board.take(presence('s1', { metrics: metrics(10_000, { load1: 9 }) }))).toBe(true);
  });

  it('shows nothing of the session before', () => {
    const board = new MetricsBoard();
    board.take(presence('s0', { metrics: metrics(0) }));
    const old = profileOf({ ...device, session: { ...device.session, sessionId: 's0' } as never }, null, metrics(0));
    expect(look(board, old)).toBeNull();
    expect(board.of(DEVICE_ID, device.session)).toBeNull();
  });

  it('keeps what is shown of a device that is gone', () => {
    const board = new MetricsBoard();
    board.take(presence('s1', { metrics: metrics(0) }));
    board.gone(DEVICE_ID);
    expect(board.of(DEVICE_ID, device.session)).toBeNull();
    expect(look(board)).toEqual(metrics(0));
  });
});
