import { describe, expect, it } from '@jest/globals';
import { parseKeys } from '#libs/screen';
import type { Reach } from './connection.runner.js';
import { isPaste, mayPaste, pastes } from './pasting.runner.js';

const FORMULA = '=WEBSERVICE("http://example.org/")';

/** A screen on which this was copied, in these forms. */
const copied = (forms: Record<string, Buffer>): Pick<Reach, 'screen'> => ({
  screen: { copied: (_: string, form: string) => Promise.resolve(forms[form]) } as Reach['screen'],
});
const pressesPaste = (keys: string): boolean => {
  const parsed = parseKeys(keys);
  return 'strokes' in parsed && parsed.strokes.some(isPaste);
};

describe('pasting', () => {
  it.each(['{VK_CONTROL}v', '{VK_CONTROL}V', '{VK_SHIFT}{INSERT}', 'a{TAB}{VK_CONTROL}v{ENTER}'])(
    'is pressed by %s',
    (keys) => {
      expect(pressesPaste(keys)).toBe(true);
    },
  );

  it.each(['v', '{VK_CONTROL}c', 'have 5{ENTER}'])('is not pressed by %s', (keys) => {
    expect(pressesPaste(keys)).toBe(false);
  });

  it('is clicked on by its name', () => {
    expect(['Paste', 'Paste Special...', 'Einfügen', 'Unformatted Text'].map(pastes)).toEqual([true, true, true, true]);
    expect(['Copy', 'Save', ''].map(pastes)).toEqual([false, false, false]);
  });

  it.each([
    ['text', { UTF8_STRING: Buffer.from(FORMULA) }],
    ['tags', { UTF8_STRING: Buffer.from('7'), 'text/html': Buffer.from(`<td>${FORMULA}</td>`) }],
    ['tags in 16 bits', { 'text/html': Buffer.from(`<td>${FORMULA}</td>`, 'utf16le') }],
  ])('puts no formula into a spreadsheet that asks the network, in %s', async (_, forms) => {
    await expect(mayPaste('CLIPBOARD', { application: 'soffice.bin' }, copied(forms))).rejects.toThrow(
      /^FORMULA: .*WEBSERVICE.*where a person is asked/u,
    );
    await expect(mayPaste('CLIPBOARD', { application: 'mousepad' }, copied(forms))).resolves.toBeUndefined();
  });

  it('goes on with everything else', async () => {
    const forms = { UTF8_STRING: Buffer.from('4711\n=SUM(A1)') };
    await expect(mayPaste('PRIMARY', { application: 'soffice.bin' }, copied(forms))).resolves.toBeUndefined();
    await expect(mayPaste('PRIMARY', { application: 'soffice.bin' }, copied({}))).resolves.toBeUndefined();
  });
});
