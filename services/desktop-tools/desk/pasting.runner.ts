import { isSpreadsheet, pastedFormula, type Stroke } from '#libs/screen';
import type { DesktopWindow, Selection } from '../display/index.js';
import { DesktopFault } from '../faults/index.js';
import type { Reach } from './connection.runner.js';

const SHOWN_CHARS = 80;
/** Controls that paste, in the languages that interfaces mostly have. */
const PASTES = /\bpaste|unformatted text|einfügen|coller|\bpegar|incolla|colar|plakken|wklej|вставить|粘贴|貼り付け/iu;

/** Whether a control of this name puts in what was copied. */
export const pastes = (name: string): boolean => PASTES.test(name);

/** Whether keys do. */
export const isPaste = ({ held, key }: Stroke): boolean =>
  'sign' in key
    ? held.includes('Control') && key.sign.toLowerCase() === 'v'
    : held.includes('Shift') && key.named === 'Insert';

/** Throws where a formula would come into a spreadsheet that a person is asked about when it is written there. */
export async function mayPaste(
  selection: Selection,
  { application }: Pick<DesktopWindow, 'application'>,
  { screen }: Pick<Reach, 'screen'>,
): Promise<void> {
  if (!isSpreadsheet(application)) return;
  const [text, html] = [await screen.copied(selection, 'UTF8_STRING'), await screen.copied(selection, 'text/html')];
  const formula = pastedFormula({ text: text?.toString('utf8') ?? '', html: htmlOf(html) });
  if (formula === undefined) return;
  throw new DesktopFault(
    'FORMULA',
    `what would be pasted is a formula that reaches for what is not in the document, ${JSON.stringify(formula.slice(0, SHOWN_CHARS))}; write it into its cell, where a person is asked`,
  );
}

/** Some programs write it in 16 bits. */
function htmlOf(bytes: Buffer | undefined): string {
  if (bytes === undefined) return '';
  return bytes.subarray(0, SHOWN_CHARS).includes(0) ? bytes.toString('utf16le') : bytes.toString('utf8');
}
