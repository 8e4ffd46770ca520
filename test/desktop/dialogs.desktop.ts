// Dialogs for files, and where the directory of a run is: ./orrery test desktop
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Json } from '#proto';
import { until } from '../../services/device-client/testing/until.js';
import { DesktopRig, largePrograms, whyNoDesktop, type DesktopHands, type Shown, type ShownList } from './rig.js';

const reason = await whyNoDesktop();
const { hasSpreadsheet } = await largePrograms();
const where = (is: boolean) => (is ? it : it.skip);

const WHOLE = { clear_current_text: true };

(reason === undefined ? describe : describe.skip)('a dialog for files', () => {
  let rig: DesktopRig;
  let run: string;
  let hands: DesktopHands;

  beforeEach(async () => {
    rig = await DesktopRig.start();
    run = await rig.directory('run-1');
  });
  afterEach(() => rig?.end());

  /** Hands whose run calls its directory so. */
  const handsIn = async (directory: string): Promise<void> => {
    const calc = { command: '/usr/bin/localc', args: ['--norestore', '--nologo'], files: [rig.home] };
    const mousepad = { command: '/usr/bin/mousepad', args: [], files: [rig.home] };
    hands = (await rig.tools({ applications: { mousepad, 'soffice.bin': calc } })).within(directory);
  };
  /** The listing of the dialog, once it is in front, with its field for a name. */
  const dialog = (name: string): Promise<ShownList & { readonly field: Shown }> =>
    until(async () => {
      const list = await hands.controls();
      const field = list.result.find((one) => one.type === 'Edit' && one.name.startsWith(name));
      return field !== undefined && /^save/iu.test(list.window?.window ?? '') ? { ...list, field } : undefined;
    });
  const savesAs = async (): Promise<ShownList & { readonly field: Shown }> => {
    await hands.ask('launch_application', { name: 'mousepad', arguments: [await rig.write('from.txt', 'kept\n')] });
    // An editor is no dialog for files: nothing is said of the run.
    expect((await hands.controls()).window).toEqual({ application: 'mousepad', window: '~/from.txt - Mousepad' });
    await hands.click('MenuItem', 'File');
    await hands.click('MenuItem', 'Save As');
    return dialog('Name:');
  };
  /** What an agent says that it saw. */
  const on = ({ field, listing, window }: ShownList & { readonly field: Shown }, runDirectory: string): Json => ({
    application: window?.application ?? '',
    window: window?.window ?? '',
    control: { id: field.id, type: field.type, name: field.name },
    snapshot: listing,
    runDirectory,
  });
  const fieldOf = ({ field: { id, name } }: { readonly field: Shown }) => ({ id, name });

  it('says where the directory of the run lies, without links, and takes a path in there as all of its field', async () => {
    const alias = join(rig.dir, 'alias');
    await symlink(run, alias);
    await handsIn(alias);
    const seen = await savesAs();
    expect(seen.window?.run_directory).toBe(run);
    // A name stands there already.
    expect(seen.field.value).toBe('from.txt');
    await hands.ask('set_edit_text', { ...fieldOf(seen), text: `${run}/to.txt`, ...WHOLE }, on(seen, run));
    expect((await dialog('Name:')).field.value).toBe(`${run}/to.txt`);
    await hands.click('Button', 'Save');
    await until(async () =>
      (await readFile(`${run}/to.txt`, 'utf8').catch(() => '')) === 'kept\n' ? true : undefined,
    );
  });

  it('that is another one, or of another run, takes nothing', async () => {
    await handsIn(run);
    const seen = await savesAs();
    const path = { ...fieldOf(seen), text: `${rig.home}/x.txt`, ...WHOLE };
    expect(await hands.refusal('set_edit_text', path, on(seen, rig.home))).toMatch(/^MISMATCH: .*run-1/u);
    const into = { ...path, text: `${run}/x.txt` };
    const front = await dialog('Name:');
    rig.start('mousepad', ['--disable-server', await rig.write('other.txt', '')]);
    // It lies in front before it has the keyboard: only when it has, a key that does nothing is refused in the dialog.
    const shift = { id: '', name: '', keys: '{VK_SHIFT}', control_focus: false };
    await until(async () => (await hands.answer('keyboard_input', shift)).isError || undefined);
    expect(await hands.refusal('set_edit_text', into, on(front, run))).toMatch(/^WINDOW_CHANGED: /u);
    // Nothing was set by any of them.
    await hands.choose(({ name }) => name.startsWith('Save'));
    expect((await dialog('Name:')).field.value).toBe('from.txt');
    // What an agent says of a window that is no dialog for files is not so.
    await hands.choose(({ name }) => name.includes('other.txt'));
    const field = await hands.named('Edit', '');
    const list = { ...(await hands.controls()), field };
    expect(await hands.refusal('set_edit_text', { ...into, ...fieldOf(list) }, on(list, run))).toMatch(/^MISMATCH: /u);
  });

  it('that completes a name says the whole path all the same, or nothing', async () => {
    await handsIn(run);
    await writeFile(`${run}/sum-of-all.txt`, '');
    const seen = await savesAs();
    const path = `${run}/sum`;
    const answer = await hands.answer('set_edit_text', { ...fieldOf(seen), text: path, ...WHOLE }, on(seen, run));
    const { value } = (await dialog('Name:')).field;
    expect(value).toBe(answer.isError ? '' : path);
  });

  where(hasSpreadsheet)('of a spreadsheet is one, too', async () => {
    await handsIn(run);
    await hands.ask('launch_application', { name: 'soffice.bin' });
    // While it starts it may not answer in time.
    await until(async () => !(await hands.answer('get_app_window_controls_target_info')).isError || undefined);
    const box = await hands.control(({ type, value }) => type === 'Edit' && value === 'A1');
    await hands.on('keyboard_input', box, { keys: '{VK_CONTROL}aB2{ENTER}' });
    await hands.control(({ type, value }) => type === 'Edit' && value === 'B2');
    await hands.ask('keyboard_input', { keys: '42{ENTER}{VK_CONTROL}s', control_focus: false });
    const seen = await dialog('Name');
    expect(seen.window?.run_directory).toBe(run);
    await hands.ask('set_edit_text', { ...fieldOf(seen), text: `${run}/sum.fods`, ...WHOLE }, on(seen, run));
    await hands.click('Button', 'Save');
    await until(async () => {
      const text = await readFile(`${run}/sum.fods`, 'utf8').catch(() => '');
      return text.includes('office:value="42"') || undefined;
    });
  });
});
