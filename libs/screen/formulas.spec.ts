import { describe, expect, it } from '@jest/globals';
import { pastedFormula } from './formulas.js';

const LEAK = '=WEBSERVICE("http://example.org/")';

describe('what is pasted into a spreadsheet', () => {
  it.each([
    ['a formula that asks the network', { text: LEAK, html: '' }, LEAK],
    ['one in a row of cells', { text: `4711\t ${LEAK}\n1`, html: '' }, LEAK],
    [
      'one that only its form with tags has',
      { text: 'Count', html: `<table><tr><td>1</td><td>${LEAK}</td></tr></table>` },
      LEAK,
    ],
    ['one that is cut by tags', { text: '', html: '<p>=WEB<b>SERVICE</b>("x")</p>' }, '=WEBSERVICE("x")'],
    [
      'one that is written in signs',
      { text: '', html: '<p>&#61;&#x57;EBSERVICE&lpar;&quot;x&quot;)</p>' },
      '=WEBSERVICE("x")',
    ],
    [
      'one beside what is shown',
      { text: '7', html: '<td data-sheets-formula="=HYPERLINK(&quot;http://example.org&quot;)">7</td>' },
      '=HYPERLINK("http://example.org")',
    ],
    ['one that asks another program', { text: "=cmd|'/c calc'!A1", html: '' }, "=cmd|'/c calc'!A1"],
  ])('is asked about where it is %s', (_, pasted, formula) => {
    expect(pastedFormula(pasted)).toBe(formula);
  });

  it.each([
    ['numbers', { text: '1\t-2\n+3', html: '<td>1</td><td>-2</td>' }],
    ['a formula of the sheet', { text: '=SUM(A1:A3)', html: '<td>=SUM(A1:A3)</td>' }],
    ['words about one', { text: `Write ${LEAK} there.`, html: `<p>Write ${LEAK} there.</p>` }],
    ['a page with links', { text: 'Shop', html: '<a href="http://example.org/?a=1">Shop</a>' }],
    ['nothing', { text: '', html: '' }],
  ])('is pasted where it is %s', (_, pasted) => {
    expect(pastedFormula(pasted)).toBeUndefined();
  });
});
