import { beforeAll, expect, it } from '@jest/globals';
import { framesFor, fuzzProgram, SEED } from './child.js';
import type { Figures } from './figures.js';
import { FRAME_MS_MAX } from './targets.js';

const HEAP_GROWN_BYTES_MAX = 64 * 1024 * 1024;
/** As demanded of all frames together; each target keeps to them by itself. */
const STRUCTURED_MIN = 0.5;
const MESSAGES_MIN = 0.3;
/** Fewer frames in a state would say little about it. */
const STATE_SHARE_MIN = 0.01;

/** What every endpoint promises, whatever its peer sends. */
export function keepsItsPromises(target: string): void {
  let figures: Figures;

  beforeAll(async () => {
    const wanted = ['--target', target, '--frames', String(framesFor(target)), '--seed', String(SEED)];
    const [printed] = await fuzzProgram<Figures>(wanted);
    if (printed === undefined) throw new Error('the fuzz program printed no figures');
    figures = printed;
  });

  it(`breaks none of its promises (seed ${SEED})`, () => expect(figures.failures.join('\n\n')).toBe(''));

  it('is never held up for long by a frame', () => expect(figures.frameMsMax).toBeLessThan(FRAME_MS_MAX));

  it('keeps nothing of sessions that are over', () => {
    expect(figures.heapGrownBytes).toBeLessThan(HEAP_GROWN_BYTES_MAX);
  });

  it('was given frames that mean something, in every state', () => {
    const { frames, structuredShare, messageShare, stages, framesByState } = figures;
    expect(frames).toBeGreaterThanOrEqual(framesFor(target));
    expect(structuredShare).toBeGreaterThanOrEqual(STRUCTURED_MIN);
    expect(messageShare).toBeGreaterThanOrEqual(MESSAGES_MIN);
    expect(stages.filter((state) => (framesByState[state] ?? 0) < frames * STATE_SHARE_MIN)).toEqual([]);
  });
}
