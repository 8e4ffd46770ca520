// The tools that a spreadsheet has of its own, on a real one: ./orrery test desktop
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Json } from '#proto';
import { until } from '../../services/device-client/testing/until.js';
import { DesktopRig, largePrograms, whyNoDesktop, type DesktopHands } from './rig.js';
import { partOf } from './workbook.js';

const reason = await whyNoDesktop();
const { hasSpreadsheet } = await largePrograms();

const TABLE: Json = [
  ['Town', 'Count', 'Note'],
  ['Grünau | West', 1900, '007'],
  ['Änne’s', 84.5, null],
  ['Sum', '=SUM(B2:B3)', 'a "word"'],
];
const all = { sheet_name: 'Sheet1', start_row: 1, start_col: 1, end_row: -1, end_col: -1 };

(reason === undefined && hasSpreadsheet ? describe : describe.skip)('a spreadsheet with tools of its own', () => {
  let rig: DesktopRig;
  let hands: DesktopHands;

  beforeAll(async () => {
    rig = await DesktopRig.start();
    const args = ['--norestore', '--nologo', '--accept=pipe,name=orrery-sheets;urp;'];
    hands = await rig.tools({
      applications: {
        'soffice.bin': { command: '/usr/bin/localc', args, files: [rig.home] },
        mousepad: { args: [], files: [] },
      },
    });
    await hands.ask('launch_application', { name: 'soffice.bin' });
    // While it starts it may not answer in time.
    await until(async () => {
      const { isError, value } = await hands.answer('get_app_window_controls_target_info');
      return isError || !JSON.stringify(value).includes('"A1"') ? undefined : true;
    });
  });
  afterAll(() => rig?.end());

  const listed = () => hands.controls();
  const values = async (range: Record<string, Json> = all): Promise<Json> =>
    (await hands.ask<{ result: Json }>('get_range_values', range)).result;

  it('is written and read, with formulas, numbers and texts as what they are', async () => {
    await listed();
    await hands.ask('insert_excel_table', { table: TABLE, sheet_name: 1, start_row: 1, start_col: 1 });
    expect(await values()).toEqual([
      ['Town', 'Count', 'Note'],
      ['Grünau | West', 1900, '007'],
      ['Änne’s', 84.5, ''],
      ['Sum', 1984.5, 'a "word"'],
    ]);
    expect(await values({ ...all, start_row: 2, end_row: 2, start_col: 2, end_col: 2 })).toEqual([[1900]]);
    const { result } = await hands.ask<{ result: string }>('table2markdown', { sheet_name: 'Sheet1' });
    expect(result.split('\n').slice(0, 3)).toEqual([
      '| Town | Count | Note |',
      '| --- | --- | --- |',
      String.raw`| Grünau \| West | 1900 | 007 |`,
    ]);
  });

  it('is saved in the formats of others, and not over a file that is something else', async () => {
    await rig.write('other.csv', 'mine\n');
    await listed();
    expect(await hands.refusal('save_as', { file_name: 'other.csv' })).toMatch(/^OUTSIDE: there is a file /u);
    await hands.ask('save_as', { file_name: 'towns', file_ext: '.csv' });
    await hands.ask('save_as', { file_dir: rig.home, file_name: 'towns.xlsx' });
    expect(await rig.text('towns.csv')).toBe(
      'Town,Count,Note\nGrünau | West,1900,007\nÄnne’s,84.5,\nSum,1984.5,"a ""word"""\n',
    );
    expect(await rig.text('other.csv')).toBe('mine\n');
    const sheet = partOf(await readFile(rig.file('towns.xlsx')), 'xl/worksheets/sheet1.xml');
    expect(sheet).toMatch(/r="B4"[^>]*><f[^>]*>SUM\(B2:B3\)<\/f><v>1984.5<\/v>/u);
  });

  it.each<[string, Record<string, Json>, RegExp]>([
    ['outside of its directories', { file_dir: '/tmp', file_name: 'a.csv' }, /^APPLICATION: it saves only in /u],
    ['by a name that leads out of them', { file_name: '../../a.csv' }, /^APPLICATION: /u],
    ['in a format of programs', { file_name: 'a.sh' }, /^OUTSIDE: files end in /u],
  ])('is not saved %s', async (_, args, why) => {
    await hands.choose(({ application }) => application === 'soffice.bin');
    await listed();
    expect(await hands.refusal('save_as', args)).toMatch(why);
  });

  it('is saved in the directory of the run that a call is of, and in none where it has none', async () => {
    const run = join(rig.dir, 'run');
    await listed();
    expect(await hands.refusal('save_as', { file_dir: '.', file_name: 'run.csv' })).toMatch(/^APPLICATION: /u);
    const outside = await hands.within(run).refusal('save_as', { file_dir: '.', file_name: '../a.csv' });
    expect(outside).toMatch(/^APPLICATION: /u);
    await hands.within(run).ask('save_as', { file_dir: '.', file_name: 'run.csv' });
    expect(await readFile(join(run, 'run.csv'), 'utf8')).toBe(await rig.text('towns.csv'));
  });

  it('has its columns in another order, where no formula would mean other cells', async () => {
    await listed();
    const order = { sheet_name: 'Sheet1', desired_order: ['Note', 'Town'] };
    expect(await hands.refusal('reorder_columns', order)).toMatch(/^NOT_INTERACTABLE: the sheet has formulas/u);
    await hands.ask('insert_excel_table', { table: [['Sum', 1984.5]], sheet_name: 1, start_row: 4, start_col: 1 });
    expect(await hands.refusal('reorder_columns', { ...order, desired_order: ['Nobody'] })).toMatch(/^NOT_FOUND: /u);
    await hands.ask('reorder_columns', order);
    const rows = (await values()) as Json[][];
    expect(rows.slice(0, 2)).toEqual([
      ['Note', 'Town', 'Count'],
      ['007', 'Grünau | West', 1900],
    ]);
    await hands.ask('select_table_range', { ...all, end_row: 2 });
    await hands.control(({ type, value }) => type === 'Edit' && value === 'A1:C2');
  });

  it('refuses sheets that are not there, too much at once, and what was judged for another window', async () => {
    await listed();
    expect(await hands.refusal('get_range_values', { ...all, sheet_name: 'Nope' })).toMatch(/there are Sheet1\.$/u);
    expect(await hands.refusal('get_range_values', { ...all, end_row: 20_000, end_col: 2 })).toMatch(/^OUTSIDE: /u);
    const on = { application: 'soffice.bin', window: 'Another', snapshot: (await listed()).listing };
    const write = { table: [[1]], sheet_name: 1, start_row: 9, start_col: 1 };
    expect(await hands.refusal('insert_excel_table', write, on)).toMatch(/^MISMATCH: /u);
  });
});
