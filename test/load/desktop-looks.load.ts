// What a look at a window costs, and an action in it: ./orrery test load -- test/load/desktop-looks
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spreadOf } from '../bench/statistics.js';
import { DesktopRig, whyNoDesktop, type DesktopHands } from '../desktop/rig.js';
import { say, scaled } from './load-system.js';

const LOOKS = scaled(40, 3);
const ACTIONS = scaled(20, 2);

const reason = await whyNoDesktop();
if (reason !== undefined) process.stderr.write(`load: looks at a desktop are skipped, because ${reason}.\n`);

(reason === undefined ? describe : describe.skip)('a text editor on a desktop', () => {
  let rig: DesktopRig;
  let hands: DesktopHands;

  beforeAll(async () => {
    rig = await DesktopRig.start();
    hands = await rig.tools();
    await hands.ask('launch_application', { name: 'mousepad', arguments: [await rig.write('notes.txt', 'a line\n')] });
  });
  afterAll(() => rig?.end());

  /** A look of an agent: controls, a clean picture, and one with marks. */
  const look = async (): Promise<number> => {
    await hands.controls();
    const [clean, marks] = await hands.pictures('capture_window_screenshot', { annotated: true });
    return (clean?.length ?? 0) + (marks?.length ?? 0);
  };

  it('is looked at', async () => {
    await look();
    const times: number[] = [];
    let bytes = 0;
    for (let count = 0; count < LOOKS; count++) {
      const began = performance.now();
      bytes = await look();
      times.push(performance.now() - began);
    }
    const { median, p99 } = spreadOf(times);
    say(
      'a look at a text editor',
      `p50 ${median.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms of ${LOOKS}; ${bytes} bytes of PNG`,
    );
    expect(bytes).toBeGreaterThan(0);
  });

  it('is typed into, and rests again', async () => {
    const field = await hands.named('Edit', '');
    const times: number[] = [];
    for (let count = 0; count < ACTIONS; count++) {
      const began = performance.now();
      await hands.on('keyboard_input', field, { keys: 'a' });
      times.push(performance.now() - began);
    }
    const { median, p99 } = spreadOf(times);
    say('a key, until the window rests', `p50 ${median.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms of ${ACTIONS}`);
  });
});
