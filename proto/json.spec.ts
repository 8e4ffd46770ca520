import { describe, expect, it } from '@jest/globals';
import { fieldsOf, parseJson } from './json.js';

describe('parseJson', () => {
  it.each<[what: string, text: string | Uint8Array, value: unknown]>([
    ['a text', '{"n":[1]}', { n: [1] }],
    ['bytes', Buffer.from('"\u00e9"'), '\u00e9'],
    ['null', 'null', null],
    ['half a text', '{', undefined],
    ['nothing', '', undefined],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), undefined],
  ])('of %s', (_, text, value) => expect(parseJson(text)).toEqual(value));
});

describe('fieldsOf', () => {
  it.each<[value: unknown, fields: object]>([
    [{ a: 1 }, { a: 1 }],
    [[1], {}],
    [null, {}],
    ['text', {}],
    [undefined, {}],
  ])('of %j', (value, fields) => expect(fieldsOf(value)).toEqual(fields));
});
