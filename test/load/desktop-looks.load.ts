// What a look at a window costs, an action in it, and a step of an agent without its model: ./orrery test load -- test/load/desktop-looks
import { access } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { medianOf, spreadOf } from '../bench/statistics.js';
import { DrivenDesktop, type Applications } from '../desktop/driven.js';
import { appEnds, assigns, hostEnds, presses, type DeskTurn } from '../desktop/model.js';
import { DesktopRig, whyNoDesktop, type DesktopHands } from '../desktop/rig.js';
import { until } from '../../services/device-client/testing/until.js';
import { say, scaled } from './load-system.js';

const LOOKS = scaled(40, 3);
const ACTIONS = scaled(20, 2);
const STEPS = scaled(20, 3);
const PAGE = `<!doctype html><title>A page</title>${'<p>A line of text, and <a href="#">a link</a>.</p>'.repeat(40)}<label>Name <input></label>`;
const PLAIN = ['--no-sandbox', '--no-first-run', '--force-renderer-accessibility', '--password-store=basic'];

const reason = await whyNoDesktop();
if (reason !== undefined) process.stderr.write(`load: looks at a desktop are skipped, because ${reason}.\n`);

/** The programs that are measured, and the packages that have them. */
const PROGRAMS = [
  { what: 'a text editor', name: 'mousepad', command: '/usr/bin/mousepad', from: 'mousepad', args: [] },
  {
    what: 'a spreadsheet',
    name: 'soffice.bin',
    command: '/usr/bin/localc',
    from: 'libreoffice-calc',
    args: ['--norestore', '--nologo'],
  },
  { what: 'a page in a browser', name: 'chromium', command: '/usr/bin/chromium', from: 'chromium', args: PLAIN },
] as const;

/** What a program that rests takes until that is known. */
const SETTLING_MS_MIN = 210;
/** What settling took after a key, by program. */
const settledFor = new Map<string, number>();

const milliseconds = (times: readonly number[]): string => {
  const { median, p99 } = spreadOf([...times]);
  return `p50 ${median.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms of ${times.length}`;
};

async function timesOf(count: number, act: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < count; turn++) {
    const began = performance.now();
    await act();
    times.push(performance.now() - began);
  }
  return times;
}

for (const { what, name, command, from, args } of PROGRAMS) {
  const isThere = await access(command).then(
    () => true,
    () => false,
  );
  if (!isThere)
    process.stderr.write(`load: ${what} is not measured, because this machine has not the package ${from}.\n`);

  (reason === undefined && isThere ? describe : describe.skip)(what, () => {
    let rig: DesktopRig;
    let hands: DesktopHands;

    beforeAll(async () => {
      rig = await DesktopRig.start();
      const file = name === 'chromium' ? await rig.write('page.html', PAGE) : undefined;
      const words = file === undefined ? [...args] : [...args, file];
      hands = await rig.tools({ applications: { [name]: { command, args: words, files: [rig.home] } } });
      await hands.ask('launch_application', { name });
      // While it starts it may not answer in time.
      await until(async () => {
        const { isError, value } = await hands.answer('get_app_window_controls_target_info');
        return isError || !JSON.stringify(value).includes('"Edit"') ? undefined : true;
      });
    });
    afterAll(() => rig?.end());

    it('is looked at, and a key is pressed in it', async () => {
      let bytes = 0;
      const looks = await timesOf(LOOKS, async () => {
        await hands.controls();
        const [clean, marks] = await hands.pictures('capture_window_screenshot', { annotated: true });
        bytes = (clean?.length ?? 0) + (marks?.length ?? 0);
      });
      expect(bytes).toBeGreaterThan(0);
      say(`a look at ${what}`, `${milliseconds(looks)}; ${bytes} bytes of PNG`);
      const keys = { id: '', name: '', keys: '{VK_DOWN}', control_focus: false };
      const settlings: number[] = [];
      const acts = await timesOf(ACTIONS, async () => {
        const { isError, meta } = await hands.answer('keyboard_input', keys);
        expect(isError).toBe(false);
        settlings.push(Number(meta?.['orrery/settling-ms']));
      });
      say(`a key in ${what}, without settling`, milliseconds(acts.map((ms, index) => ms - (settlings[index] ?? 0))));
      say(`a key in ${what}, until it rests`, milliseconds(acts));
      say(`of that settling, at least ${SETTLING_MS_MIN} ms`, milliseconds(settlings));
      settledFor.set(name, medianOf(settlings));
    });
  });
}

(reason === undefined ? describe : describe.skip)('an agent at a desktop', () => {
  let desktop: DrivenDesktop;

  beforeAll(async () => {
    const applications = ({ home }: DesktopRig): Applications => ({
      mousepad: { command: '/usr/bin/mousepad', args: [], files: [home] },
    });
    desktop = await DrivenDesktop.start(applications);
  });
  afterAll(() => desktop?.stop());

  it('takes steps, each from a reply of its model to its next question', async () => {
    desktop.rig.start('mousepad', [await desktop.rig.write('steps.txt', 'a line\n')]);
    const asked: number[] = [];
    const step: DeskTurn = (seen) => {
      asked.push(performance.now());
      return presses('a')(seen);
    };
    const steps = Array.from({ length: STEPS }, () => step);
    desktop.model.story('steps', [assigns('steps.txt', 'Write.'), ...steps, appEnds('written'), hostEnds('written')]);
    expect((await desktop.told('steps')).outcome).toBe('succeeded');
    const times = asked.slice(1).map((at, index) => at - (asked[index] ?? at));
    say('a step of an agent without its model, with its look and its key', milliseconds(times));
    const settling = settledFor.get('mousepad') ?? SETTLING_MS_MIN;
    say(`without settling, which takes ${settling.toFixed(0)} ms`, milliseconds(times.map((ms) => ms - settling)));
  });
});
