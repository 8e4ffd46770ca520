import { lstat, readFile } from 'node:fs/promises';
import { DesktopFault } from '../faults/index.js';
import { isAny, objectIn, type UnoObject, type UnoValue } from './urp-values.js';
import { UnoPipe, type UnoMethod } from './urp.client.js';

/** A value of a cell. */
export type Cell = string | number | null;

/** Cells from one corner to the other, counted from 1; `-1` for the last ones is the end of what is used. */
export interface CellRange {
  readonly startRow: number;
  readonly startCol: number;
  readonly endRow: number;
  readonly endCol: number;
}

const CELLS_MAX = 10_000;
const P = 'com.sun.star';
const TYPES = {
  cells: `${P}.sheet.XCellRangeData`,
  range: `${P}.table.XCellRange`,
  sheet: `${P}.sheet.XSpreadsheet`,
  names: `${P}.container.XNameAccess`,
} as const;
const method = (of: string, place: number, takes: readonly string[], gives: string): UnoMethod => ({
  interface: `${P}.${of}`,
  place,
  takes,
  gives,
});
/** What is asked of LibreOffice: each method by its place in its interface, which never changes once it is published. */
const ASK = {
  services: method('uno.XComponentContext', 4, [], `${P}.lang.XMultiComponentFactory`),
  create: method('lang.XMultiComponentFactory', 3, ['string', `${P}.uno.XComponentContext`], `${P}.uno.XInterface`),
  components: method('frame.XDesktop', 6, [], `${P}.container.XEnumerationAccess`),
  enumerate: method('container.XEnumerationAccess', 5, [], `${P}.container.XEnumeration`),
  hasMore: method('container.XEnumeration', 3, [], 'boolean'),
  next: method('container.XEnumeration', 4, [], 'any'),
  controller: method('frame.XModel', 14, [], `${P}.frame.XController`),
  frame: method('frame.XController', 12, [], `${P}.frame.XFrame`),
  title: method('frame.XTitle', 3, [], 'string'),
  sheets: method('sheet.XSpreadsheetDocument', 3, [], `${P}.sheet.XSpreadsheets`),
  sheetNames: method('container.XNameAccess', 6, [], '[]string'),
  byName: method('container.XNameAccess', 5, ['string'], 'any'),
  cursor: method('sheet.XSpreadsheet', 7, [], `${P}.sheet.XSheetCellCursor`),
  toEnd: method('sheet.XUsedAreaCursor', 4, ['boolean'], 'void'),
  address: method('sheet.XCellRangeAddressable', 3, [], `${P}.table.CellRangeAddress`),
  range: method('table.XCellRange', 4, ['long', 'long', 'long', 'long'], `${P}.table.XCellRange`),
  cell: method('table.XCellRange', 3, ['long', 'long'], `${P}.table.XCell`),
  data: method('sheet.XCellRangeData', 3, [], '[][]any'),
  setData: method('sheet.XCellRangeData', 4, ['[][]any'], 'void'),
  formulas: method('sheet.XCellRangeFormula', 3, [], '[][]string'),
  setFormula: method('table.XCell', 4, ['string'], 'void'),
  select: method('view.XSelectionSupplier', 3, ['any'], 'boolean'),
  location: method('frame.XStorable', 4, [], 'string'),
  storeAs: method('frame.XStorable', 7, ['string', '[]com.sun.star.beans.PropertyValue'], 'void'),
  storeTo: method('frame.XStorable', 8, ['string', '[]com.sun.star.beans.PropertyValue'], 'void'),
} as const;

/** How LibreOffice calls the formats that are written; what is only given away leaves the document what it was. */
const FORMATS: Readonly<Record<string, { readonly filter: string; readonly options?: string; readonly copy?: true }>> =
  {
    '.ods': { filter: 'calc8' },
    '.fods': { filter: 'OpenDocument Spreadsheet Flat XML' },
    '.xlsx': { filter: 'Calc MS Excel 2007 XML' },
    '.csv': { filter: 'Text - txt - csv (StarCalc)', options: '44,34,76,1,,0,false,true,false', copy: true },
    '.pdf': { filter: 'calc_pdf_Export', copy: true },
  };
export const SHEET_FORMATS: readonly string[] = Object.keys(FORMATS);

/** Where the program with this id listens for its own user: what it was started with says so. Undefined: it does not. */
export async function unoPathOf(process: number): Promise<string | undefined> {
  const words = (await readFile(`/proc/${process}/cmdline`, 'utf8').catch(() => '')).split('\0');
  const name = words.map((word) => LISTENS.exec(word)?.[1]).find((found) => found !== undefined);
  const user = globalThis.process.geteuid?.();
  if (name === undefined || user === undefined) return undefined;
  const path = `/tmp/OSL_PIPE_${user}_${name}`;
  // Everybody may make files there: one of somebody else is not this program.
  const made = await lstat(path).catch(() => undefined);
  return made?.isSocket() === true && made.uid === user ? path : undefined;
}
const LISTENS = /^--accept=pipe,name=([A-Za-z0-9_-]{1,64});urp;?/u;

/** The spreadsheet in one window of a LibreOffice. */
export class Spreadsheet {
  readonly #pipe: UnoPipe;
  readonly #document: UnoObject;
  readonly #controller: UnoObject;

  private constructor(pipe: UnoPipe, document: UnoObject, controller: UnoObject) {
    this.#pipe = pipe;
    this.#document = document;
    this.#controller = controller;
  }

  /** Works with the spreadsheet whose window has this title, and leaves again. */
  static async with<T>(path: string, title: string, work: (sheet: Spreadsheet) => Promise<T>): Promise<T> {
    const pipe = await UnoPipe.open(path);
    try {
      return await work(await Spreadsheet.#titled(pipe, title));
    } finally {
      pipe.close();
    }
  }

  static async #titled(pipe: UnoPipe, title: string): Promise<Spreadsheet> {
    const context = await pipe.as(await pipe.named('StarOffice.ComponentContext'), `${P}.uno.XComponentContext`);
    const services = object(await pipe.ask(context, ASK.services));
    const made = object(await pipe.ask(services, ASK.create, `${P}.frame.Desktop`, context));
    const components = object(await pipe.ask(await pipe.as(made, `${P}.frame.XDesktop`), ASK.components));
    const all = object(await pipe.ask(components, ASK.enumerate));
    const found: { document: UnoObject; controller: UnoObject }[] = [];
    while ((await pipe.ask(all, ASK.hasMore)) === true) {
      const document = await pipe.as(object(await pipe.ask(all, ASK.next)), `${P}.frame.XModel`).catch(unlessSilent);
      const controller = document && objectIn(await pipe.ask(document, ASK.controller));
      const frame = controller && objectIn(await pipe.ask(controller, ASK.frame));
      if (document === undefined || controller === undefined || frame === undefined) continue;
      const shown = await pipe.ask(await pipe.as(frame, `${P}.frame.XTitle`), ASK.title);
      if (shown === title) found.push({ document, controller });
    }
    const [only, ...more] = found;
    if (only === undefined || more.length > 0) {
      throw new DesktopFault('NOT_FOUND', `the program has ${found.length} documents in windows of this title`);
    }
    const document = await pipe.as(only.document, `${P}.sheet.XSpreadsheetDocument`);
    return new Spreadsheet(pipe, document, only.controller);
  }

  /** Rows of values; what a formula comes to stands for it. */
  async values(sheet: string | number, range: CellRange): Promise<Cell[][]> {
    const cells = await this.#range(sheet, range);
    const rows = await this.#pipe.ask(await this.#pipe.as(cells, TYPES.cells), ASK.data);
    return listIn(rows).map((row) => listIn(row).map(cellOf));
  }

  /** Puts rows of values where the first of them is said to stand; what begins with `=` is a formula. */
  async write(
    sheet: string | number,
    rows: readonly (readonly Cell[])[],
    [row, col]: readonly [number, number],
  ): Promise<void> {
    const width = Math.max(...rows.map(({ length }) => length));
    const range = { startRow: row, startCol: col, endRow: row + rows.length - 1, endCol: col + width - 1 };
    const cells = await this.#range(sheet, range);
    const formulas = rows.flatMap((line, y) =>
      line.flatMap((cell, x) => (isFormula(cell) ? [{ x, y, text: cell }] : [])),
    );
    const data = rows.map((line) => Array.from({ length: width }, (_, x) => anyOf(line[x] ?? null)));
    await this.#pipe.ask(await this.#pipe.as(cells, TYPES.cells), ASK.setData, data);
    for (const { x, y, text } of formulas) {
      await this.#pipe.ask(object(await this.#pipe.ask(cells, ASK.cell, x, y)), ASK.setFormula, text);
    }
  }

  /** Whether any of these cells has a formula. */
  async hasFormulas(sheet: string | number, range: CellRange): Promise<boolean> {
    const cells = await this.#range(sheet, range);
    const rows = await this.#pipe.ask(await this.#pipe.as(cells, ASK.formulas.interface), ASK.formulas);
    return listIn(rows).some((row) => listIn(row).some((text) => typeof text === 'string' && text.startsWith('=')));
  }

  async select(sheet: string | number, range: CellRange): Promise<void> {
    const cells = await this.#range(sheet, range);
    const supplier = await this.#pipe.as(this.#controller, ASK.select.interface);
    await this.#pipe.ask(supplier, ASK.select, { type: TYPES.range, value: cells });
  }

  /** The address of its file; empty for one that was never saved. */
  async location(): Promise<string> {
    const location = await this.#pipe.ask(await this.#pipe.as(this.#document, ASK.location.interface), ASK.location);
    return typeof location === 'string' ? location : '';
  }

  /** Saves it in the format that the end of the name stands for, which is one of `SHEET_FORMATS`. */
  async save(address: string, format: string): Promise<void> {
    const { filter = '', options, copy = false } = FORMATS[format] ?? {};
    const properties = [
      property('FilterName', filter),
      ...(options === undefined ? [] : [property('FilterOptions', options)]),
    ];
    const storable = await this.#pipe.as(this.#document, ASK.storeAs.interface);
    await this.#pipe.ask(storable, copy ? ASK.storeTo : ASK.storeAs, address, properties);
  }

  async #sheet(sheet: string | number): Promise<UnoObject> {
    const sheets = await this.#pipe.as(object(await this.#pipe.ask(this.#document, ASK.sheets)), TYPES.names);
    const names = listIn(await this.#pipe.ask(sheets, ASK.sheetNames)).filter((name) => typeof name === 'string');
    const name = typeof sheet === 'number' ? names[sheet - 1] : sheet;
    if (name === undefined || !names.includes(name)) {
      throw new DesktopFault('NOT_FOUND', `there is no sheet ${JSON.stringify(sheet)}; there are ${names.join(', ')}`);
    }
    return this.#pipe.as(object(await this.#pipe.ask(sheets, ASK.byName, name)), TYPES.sheet);
  }

  async #range(sheet: string | number, range: CellRange): Promise<UnoObject> {
    const of = await this.#sheet(sheet);
    const [endRow, endCol] =
      range.endRow > 0 && range.endCol > 0 ? [range.endRow, range.endCol] : await this.#end(of, range);
    const { startRow, startCol } = range;
    const count = (endRow - startRow + 1) * (endCol - startCol + 1);
    if (endRow < startRow || endCol < startCol) throw new DesktopFault('OUTSIDE', 'the range ends before it begins');
    if (count > CELLS_MAX) throw new DesktopFault('OUTSIDE', `the range has ${count} cells, and may have ${CELLS_MAX}`);
    return object(await this.#pipe.ask(of, ASK.range, startCol - 1, startRow - 1, endCol - 1, endRow - 1));
  }

  /** The last row and column that are meant, where -1 is that of the last cell which is used. */
  async #end(sheet: UnoObject, { startRow, startCol, endRow, endCol }: CellRange): Promise<[number, number]> {
    const cursor = object(await this.#pipe.ask(sheet, ASK.cursor));
    await this.#pipe.ask(await this.#pipe.as(cursor, ASK.toEnd.interface), ASK.toEnd, false);
    const at = await this.#pipe.ask(await this.#pipe.as(cursor, ASK.address.interface), ASK.address);
    const [, , , col, row] = listIn(at).map(Number);
    return [
      endRow > 0 ? endRow : Math.max((row ?? 0) + 1, startRow),
      endCol > 0 ? endCol : Math.max((col ?? 0) + 1, startCol),
    ];
  }
}

export const isFormula = (cell: Cell): cell is string => typeof cell === 'string' && cell.startsWith('=');

const listIn = (value: UnoValue): readonly UnoValue[] => (Array.isArray(value) ? (value as readonly UnoValue[]) : []);

function object(value: UnoValue): UnoObject {
  const found = objectIn(typeof value === 'object' && value !== null && 'value' in value ? value.value : value);
  if (found === undefined) throw new DesktopFault('NOT_FOUND', 'the spreadsheet has not what is asked for');
  return found;
}

function cellOf(value: UnoValue): Cell {
  const { value: inner } = isAny(value) ? value : { value: null };
  return typeof inner === 'number' || typeof inner === 'string' ? inner : null;
}

function anyOf(cell: Cell): UnoValue {
  // Nothing, for a cell, is an empty text.
  if (cell === null || isFormula(cell)) return { type: 'string', value: '' };
  return { type: typeof cell === 'number' ? 'double' : 'string', value: cell };
}

const property = (name: string, value: string): UnoValue => [name, 0, { type: 'string', value }, 0];

/** A document of another kind has not got every side. */
function unlessSilent(error: unknown): undefined {
  if (error instanceof DesktopFault && error.code === 'NOT_FOUND') return undefined;
  throw error;
}
