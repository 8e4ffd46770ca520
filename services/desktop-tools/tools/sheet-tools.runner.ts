import { access } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { Caller, HostedTool } from '#libs/mcp';
import type { Act } from '#libs/screen';
import type { DeskState } from '../desk/index.js';
import { DesktopFault } from '../faults/index.js';
import { placeIn } from '../launch/index.js';
import { SHEET_FORMATS, Spreadsheet, unoPathOf, type CellRange } from '../uno/index.js';
import { markdownOf, reordered } from './sheet-table.js';
import { runDirectoryOf, seenOnDesk, TextShape, toolOf } from './tool.js';

const SIDE_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;
const TEXT_CHARS_MAX = 32_767;

const SheetName = z.union([z.string().min(1).max(256), z.int().min(1).max(10_000)]);
const Row = z.int().min(1).max(SIDE_MAX);
const Column = z.int().min(1).max(COLUMNS_MAX);
const END = z.literal(-1);
const CellShape = z.union([z.string().max(TEXT_CHARS_MAX), z.number(), z.null()]);
const RangeInput = z.object({
  sheet_name: SheetName,
  start_row: Row,
  start_col: Column,
  end_row: z.union([Row, END]),
  end_col: z.union([Column, END]),
});
const ValuesShape = z.object({ result: z.array(z.array(CellShape)) });
/** The directory of the run, as its commands call it. */
const RUN_DIRECTORY = '.';
/** All of a sheet that is used. */
const ALL: CellRange = { startRow: 1, startCol: 1, endRow: -1, endCol: -1 };

/** The tools of a spreadsheet, by the names and arguments that UFO gives to those of Excel: its cells, and its file. */
export function desktopSheetTools(desk: DeskState): HostedTool[] {
  return [...readingTools(desk), ...writingTools(desk), savingTool(desk)];
}

function readingTools(desk: DeskState): HostedTool[] {
  return [
    toolOf({
      name: 'get_range_values',
      title: 'Values of cells',
      description: 'The values of a range of cells, rows and columns from 1; -1 is the last one that is used.',
      input: RangeInput,
      output: ValuesShape,
      readOnly: true,
      run: (asked, _, caller) =>
        inSheet(desk, 'click', caller, async (sheet) => ({
          result: await sheet.values(asked.sheet_name, rangeOf(asked)),
        })),
    }),
    toolOf({
      name: 'table2markdown',
      title: 'A sheet as a table',
      description: 'All that is used of a sheet as a table in Markdown, its first row as the heading.',
      input: z.object({ sheet_name: SheetName }),
      output: TextShape,
      readOnly: true,
      run: ({ sheet_name: name }, _, caller) =>
        inSheet(desk, 'click', caller, async (sheet) => ({ result: markdownOf(await sheet.values(name, ALL)) })),
    }),
    toolOf({
      name: 'select_table_range',
      title: 'Select cells',
      description: 'Selects a range of cells in the window, rows and columns from 1; -1 is the last one that is used.',
      input: RangeInput,
      output: TextShape,
      readOnly: false,
      run: (asked, _, caller) =>
        inSheet(desk, 'click', caller, async (sheet) => {
          await sheet.select(asked.sheet_name, rangeOf(asked));
          return { result: 'The cells are selected.' };
        }),
    }),
  ];
}

function writingTools(desk: DeskState): HostedTool[] {
  return [
    toolOf({
      name: 'insert_excel_table',
      title: 'Write cells',
      description:
        'Writes a table, a list of rows, with its first cell in this row and column. Numbers are numbers; a text that begins with = is a formula.',
      input: z.object({
        table: z.array(z.array(CellShape).max(COLUMNS_MAX)).min(1).max(10_000),
        sheet_name: SheetName,
        start_row: Row,
        start_col: Column,
      }),
      output: TextShape,
      readOnly: false,
      run: ({ table, sheet_name: name, start_row: row, start_col: col }, _, caller) =>
        inSheet(desk, 'text', caller, async (sheet) => {
          await sheet.write(name, table, [row, col]);
          return { result: `Wrote ${table.length} rows.` };
        }),
    }),
    toolOf({
      name: 'reorder_columns',
      title: 'Reorder columns',
      description:
        'Puts the columns of a sheet into this order, by the names in its first row; others stay behind them.',
      input: z.object({ sheet_name: SheetName, desired_order: z.array(z.string().max(256)).min(1).max(256) }),
      output: TextShape,
      readOnly: false,
      run: ({ sheet_name: name, desired_order: order }, _, caller) =>
        inSheet(desk, 'text', caller, async (sheet) => {
          const table = reordered(await sheet.values(name, ALL), order);
          if (typeof table === 'string') throw new DesktopFault('NOT_FOUND', table);
          if (await sheet.hasFormulas(name, ALL))
            throw new DesktopFault('NOT_INTERACTABLE', 'the sheet has formulas, which would mean other cells then');
          await sheet.write(name, table, [1, 1]);
          return { result: `The columns are in the order ${JSON.stringify(table[0])}.` };
        }),
    }),
  ];
}

function savingTool(desk: DeskState): HostedTool {
  return toolOf({
    name: 'save_as',
    title: 'Save the document',
    description: `Saves the document in a directory that this program may have files of, without file_dir in the first; with . as file_dir in the directory of the run, where its task may leave it as a file. file_ext is ${SHEET_FORMATS.join(', ')}.`,
    input: z.object({
      file_dir: z.string().max(4_096).default(''),
      file_name: z.string().max(255).default(''),
      file_ext: z.string().max(16).default(''),
    }),
    output: TextShape,
    readOnly: false,
    run: ({ file_dir: directory, file_name: name, file_ext: extension }, _, caller) =>
      inSheet(desk, 'text', caller, async (sheet, files) => {
        const format = (extension === '' ? extname(name) || '.csv' : extension).toLowerCase();
        if (!SHEET_FORMATS.includes(format))
          throw new DesktopFault(
            'OUTSIDE',
            `files end in ${SHEET_FORMATS.join(', ')}, and not in ${JSON.stringify(format)}`,
          );
        const bare = extname(name).toLowerCase() === format ? name.slice(0, -format.length) : name;
        const ofRun = directory === RUN_DIRECTORY ? runDirectoryOf(caller) : undefined;
        const allowed = ofRun === undefined ? files : [ofRun];
        const place = await placeIn(
          join(ofRun ?? (directory === '' ? (files[0] ?? '') : directory), (bare || 'table') + format),
          allowed,
        );
        if (place === undefined || bare.includes('/'))
          throw new DesktopFault('APPLICATION', `it saves only in ${allowed.join(', ') || 'no directory'}`);
        const address = pathToFileURL(place).href;
        if ((await isThere(place)) && (await sheet.location()) !== address)
          throw new DesktopFault('OUTSIDE', `there is a file ${place} already, and it is of something else`);
        await sheet.save(address, format);
        return { result: `Saved as ${place}.` };
      }),
  });
}

/** In the window that was listed last, as long as it is that window and its program lets itself be asked. */
async function inSheet<T>(
  desk: DeskState,
  act: Act,
  caller: Caller,
  work: (sheet: Spreadsheet, files: readonly string[]) => Promise<T>,
): Promise<T> {
  const { windows } = await desk.reach();
  const listing = desk.listed();
  desk.compare(seenOnDesk(caller), listing);
  const { handle, process, title } = listing.window;
  const now = (await windows.list()).find((window) => window.handle === handle && window.process === process);
  if (now?.title !== title)
    throw new DesktopFault('WINDOW_CHANGED', `the window ${JSON.stringify(title)} is not there any more; list again`);
  desk.admit(act, listing, false);
  const path = await unoPathOf(process);
  if (path === undefined)
    throw new DesktopFault(
      'NOT_FOUND',
      `${now.application} does not let its cells be asked for; it has to be started with --accept=pipe,name=<a name>;urp;`,
    );
  const { files = [] } = desk.settings.applications[now.application] ?? {};
  return Spreadsheet.with(path, now.rawTitle, (sheet) => work(sheet, files));
}

const rangeOf = (asked: z.infer<typeof RangeInput>): CellRange => ({
  startRow: asked.start_row,
  startCol: asked.start_col,
  endRow: asked.end_row,
  endCol: asked.end_col,
});

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
