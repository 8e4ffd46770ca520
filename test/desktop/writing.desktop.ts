// A desktop with real programs: ./orrery test desktop
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readPng } from '#libs/picture';
import { until } from '../../services/device-client/testing/until.js';
import { DesktopRig, whyNoDesktop, type DesktopHands } from './rig.js';

const reason = await whyNoDesktop();
if (reason !== undefined) process.stderr.write(`desktop: skipped, because ${reason}.\n`);

const TEXT = 'Grüße aus Köln – „Welt“, 5 € und 你好\n{VK_CONTROL} is text here\n';

(reason === undefined ? describe : describe.skip)('a text editor on a desktop', () => {
  let rig: DesktopRig;
  let hands: DesktopHands;

  beforeAll(async () => {
    rig = await DesktopRig.start();
    hands = await rig.tools();
  });
  afterAll(() => rig?.end());

  const open = async (name: string, text: string): Promise<void> => {
    await hands.ask('launch_application', { name: 'mousepad', arguments: [await rig.write(name, text)] });
  };
  const save = async (): Promise<void> => {
    await hands.on('keyboard_input', await hands.named('Edit', ''), { keys: '{VK_CONTROL}s' });
  };
  const written = (name: string, text: string): Promise<true> =>
    until(async () => ((await rig.text(name)) === text ? true : undefined));

  it('gets a text in one go, and the file has every sign of it', async () => {
    await open('whole.txt', 'before\n');
    const field = await hands.named('Edit', '');
    expect(field.value).toContain('before');
    await hands.on('set_edit_text', field, { text: TEXT, clear_current_text: true });
    await save();
    await expect(written('whole.txt', TEXT)).resolves.toBe(true);
    expect(await hands.ask('texts', { id: '1', name: '' }).catch((error: Error) => error.message)).toContain(
      'MISMATCH',
    );
  });

  it('gets the same text typed, sign by sign, also what no key has', async () => {
    await open('typed.txt', '');
    const keys = TEXT.replaceAll(/[{}]/gu, (brace) => `{${brace}}`);
    await hands.on('keyboard_input', await hands.named('Edit', ''), { keys });
    await save();
    await expect(written('typed.txt', TEXT)).resolves.toBe(true);
  });

  it('is led through its menu and its dialog to another file', async () => {
    await open('from.txt', 'to be kept\n');
    await hands.click('MenuItem', 'File');
    const saveAs = await hands.named('MenuItem', 'Save As');
    await hands.on('click_input', saveAs);
    await until(async () => {
      const { control_text: title } = await hands.ask<{ readonly control_text: string }>('get_app_window_info');
      return title === 'Save As' ? true : undefined;
    });
    // What was listed belongs to the window below.
    expect(await hands.refusal('click_input', { id: saveAs.id, name: saveAs.name })).toMatch(/^WINDOW_CHANGED: /u);
    await hands.on('set_edit_text', await hands.named('Edit', 'Name:'), {
      text: rig.file('to.txt'),
      clear_current_text: true,
    });
    await hands.click('Button', 'Save');
    await expect(written('to.txt', 'to be kept\n')).resolves.toBe(true);
  });

  it('is scrolled and clicked at places, and its pictures are those of the screen', async () => {
    const long = Array.from({ length: 400 }, (_, n) => `line ${n}\n`).join('');
    await open('long.txt', long);
    const [before] = await hands.pictures('capture_window_screenshot');
    const field = await hands.named('Edit', '');
    await hands.on('wheel_mouse_input', field, { wheel_dist: -20 });
    await until(async () => {
      const [now] = await hands.pictures('capture_window_screenshot');
      return now?.equals(before ?? Buffer.alloc(0)) === true ? undefined : true;
    });
    const { pictures } = await hands.ask<{ pictures: readonly { width: number; height: number }[] }>(
      'capture_window_screenshot',
    );
    const [after, marks, crop] = await hands.pictures('capture_window_screenshot', { annotated: true, crop: field.id });
    expect(marks?.equals(after ?? Buffer.alloc(0))).toBe(false);
    expect(crop).toBeDefined();
    // It is what a picture of the screen is, whole.
    const read = readPng(after ?? Buffer.alloc(0));
    expect(read).toMatchObject({ picture: { width: pictures[0]?.width, height: pictures[0]?.height } });
    await hands.controls();
    await hands.ask('click_on_coordinates', { x: 0.5, y: 0.5, double: true });
    await hands.ask('drag_on_coordinates', { start_x: 0.2, start_y: 0.4, end_x: 0.6, end_y: 0.6, duration: 0.2 });
    await hands.ask('keyboard_input', { keys: '{DEL}{VK_CONTROL}s', control_focus: false });
    // What was dragged over is gone.
    await until(async () => ((await rig.text('long.txt')).length < long.length ? true : undefined));
  });

  it('is dragged over with a key that is held, and not longer', async () => {
    await open('held.txt', Array.from({ length: 60 }, (_, n) => `line ${n}\n`).join(''));
    await hands.on('keyboard_input', await hands.named('Edit', ''), { keys: '{VK_CONTROL}{HOME}' });
    const drag = { start_x: 0.2, start_y: 0.4, end_x: 0.2, end_y: 0.6, duration: 0.2 };
    expect(await hands.ask('drag_on_coordinates', { ...drag, key_hold: 'shift' })).toMatchObject({
      result: expect.stringContaining('with Shift held'),
    });
    expect(await hands.refusal('drag_on_coordinates', { ...drag, key_hold: 'alt' })).toMatch(/key_hold/u);
    await hands.ask('keyboard_input', { keys: '{DEL}x{VK_CONTROL}s', control_focus: false });
    // From where the cursor was, and not from where the button went down; what is typed then has no Shift.
    await until(async () => (/^x[^0]/u.test(await rig.text('held.txt')) ? true : undefined));
  });
});
