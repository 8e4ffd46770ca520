import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from '@jest/globals';
import { ROWS_A_BLOCK } from './row-blocks.js';
import { Rows } from './rows.js';

it.each([false, true])(
  'draws only some of 20,000 rows, and says how many there are (newest first: %s)',
  (newestFirst) => {
    const rows = Array.from({ length: 20_000 }, (_, number) => `row ${number}`);
    const drawn: string[] = [];
    const draw = (row: string): string => {
      drawn.push(row);
      return row;
    };
    const html = renderToStaticMarkup(
      createElement(Rows<string>, { label: 'Events', className: 'events', rows, draw, newestFirst, rowPx: 28 }),
    );
    const first = Array.from({ length: ROWS_A_BLOCK }, (_, at) => rows[newestFirst ? rows.length - 1 - at : at]);
    expect(drawn).toEqual(first);
    expect([...html.matchAll(/role="row"/gu)]).toHaveLength(ROWS_A_BLOCK);
    expect(html).toContain('aria-rowcount="20000"');
    // The others have their room: whoever scrolls comes to each.
    expect(html).toContain(`height:${(rows.length - ROWS_A_BLOCK) * 28}px`);
  },
);
