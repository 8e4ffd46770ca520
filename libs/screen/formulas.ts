/*
 * What is written into cells of a spreadsheet, judged as text: which of it is a formula, and which formulas reach for what is not in
 * the document. It is judged call by call: what is typed in pieces is asked about where a piece shows that it is one.
 */
import { programName } from './program-name.js';

/** Text that was typed in one go. */
export interface TypedRun {
  readonly text: string;
  /** A key behind it has put it into its cell as it is. */
  readonly isEntered: boolean;
}

const SPREADSHEETS: ReadonlySet<string> = new Set(
  ['soffice.bin', 'soffice', 'scalc', 'EXCEL.EXE', 'gnumeric'].map(programName),
);

/** Whether a text that begins with a sign of formulas becomes one in the windows of this program. */
export const isSpreadsheet = (application: string): boolean => SPREADSHEETS.has(programName(application));

const REACHING = 'WEBSERVICE|DDE|HYPERLINK|RTD|IMPORT\\w*|INDIRECT|CALL|REGISTER(?:\\.ID)?|EXEC|IMAGE';
const BEGINS = /^\s*[=+@-]/u;
const REACHES = new RegExp(
  `\\b(?:${REACHING})\\s*\\(|:\\/\\/|\\b(?:file|macro|service|javascript|vnd\\.[\\w.]+):|['\\]]#|\\|`,
  'iu',
);
/** A part of a formula that does not begin with one of its signs: a function, or the name of one that reaches. */
const PART = /[\p{L}\d_.]\(|\b(?:WEBSERVICE|HYPERLINK|INDIRECT)\b/iu;
const NUMBER = /^\s*[+-]?[\d.,\s%]+$/u;

/** Formulas that ask other programs, other files or the network, or that are links to them. */
export const isReachingFormula = (text: string): boolean => BEGINS.test(text) && REACHES.test(text);

/** What is to be asked about text that is typed into a spreadsheet; undefined: nothing. */
export function typedFormula(runs: readonly TypedRun[]): 'reaches' | 'part' | undefined {
  // In a field each line is a cell, and each tab goes to the next one.
  const cells = runs.flatMap(({ text, isEntered }) => {
    const parts = text.split(/[\n\r\t]/u);
    return parts.map((part, index) => ({ text: part, isEntered: isEntered || index < parts.length - 1 }));
  });
  if (cells.some(({ text }) => isReachingFormula(text))) return 'reaches';
  return cells.some(isPart) ? 'part' : undefined;
}

function isPart({ text, isEntered }: TypedRun): boolean {
  if (!BEGINS.test(text)) return PART.test(text);
  return !isEntered && !NUMBER.test(text) && !isWhole(text);
}

/** Ends where a formula may end: what is typed behind it makes no function of its last name. */
function isWhole(text: string): boolean {
  const outside = text.replaceAll(/"[^"]*"/gu, '0');
  const count = (sign: string): number => outside.split(sign).length;
  return /[\d)\]}%]\s*$/u.test(outside) && !outside.includes('"') && count('(') === count(')');
}

const CELL_ENDS = /<\/?(?:td|th|tr|table|p|div|li|ul|ol|pre|br|h\d)\b[^>]*>/giu;
const TAG = /<[^>]*>/gu;
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  colon: ':',
  commat: '@',
  equals: '=',
  gt: '>',
  lt: '<',
  lpar: '(',
  nbsp: ' ',
  plus: '+',
  quot: '"',
  sol: '/',
  vert: '|',
};
/** Formulas that a table has beside what it shows. */
const BESIDE = /\bdata-sheets-formula\s*=\s*(?:"([^"]*)"|'([^']*)')/giu;

/** The first formula in what would be pasted that reaches for what is not in the document; `html`: the same with its tags. */
export function pastedFormula({ text, html }: { readonly text: string; readonly html: string }): string | undefined {
  const cells = html.split(CELL_ENDS).map((cell) => unescaped(cell.replaceAll(TAG, '')));
  const beside = [...html.matchAll(BESIDE)].map(([, double, single]) => unescaped(double ?? single ?? ''));
  return [...text.split(/[\n\r\t]/u), ...cells, ...beside].find(isReachingFormula)?.trim();
}

const unescaped = (text: string): string =>
  text.replaceAll(
    /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w{1,16}));?/giu,
    (whole, hex, decimal, name: string | undefined) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
      const point = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16);
      return point <= 0x10_ff_ff ? String.fromCodePoint(point) : whole;
    },
  );
