import { describe, expect, it } from '@jest/globals';
import { readEmbeddings } from './embedding.js';

const one = { texts: 1, dimensions: null };
const two = { texts: 2, dimensions: null };
const reply = (...data: object[]): object => ({ object: 'list', data });
const at = (index: number, ...embedding: number[]): object => ({ object: 'embedding', index, embedding });

describe('a list of vectors', () => {
  it('is read in the order of the texts, whatever order it came in', () => {
    const read = readEmbeddings(reply(at(1, 0, 2), at(0, 5, 0)), two);
    expect(read).toEqual({ vectors: [Float32Array.of(1, 0), Float32Array.of(0, 1)], tokens: null });
  });

  it('needs no index, and no usage that is one', () => {
    const usage = { prompt_tokens: 'many' };
    expect(readEmbeddings({ ...reply({ embedding: [2] }, { embedding: [-3] }), usage }, two)).toEqual({
      vectors: [Float32Array.of(1), Float32Array.of(-1)],
      tokens: null,
    });
    expect(readEmbeddings({ ...reply(at(0, 1)), usage: { prompt_tokens: 7 } }, one)).toMatchObject({ tokens: 7 });
  });

  it.each([
    ['nothing', null, one, 'no list of vectors'],
    ['a page', '<html>', one, 'no list of vectors'],
    ['base64', reply({ index: 0, embedding: 'AAAA' }), one, 'no list of vectors'],
    ['text among numbers', reply({ index: 0, embedding: [1, '2'] }), one, 'no list of vectors'],
    ['too few', reply(at(0, 1)), two, '1 vectors, not one for each of 2 texts'],
    ['too many', reply(at(0, 1), at(1, 1)), one, '2 vectors, not one for each of 1 texts'],
    ['the same one twice', reply(at(0, 1), at(0, 1)), two, 'not one for each'],
    ['an index of nothing', reply(at(0, 1), at(7, 1)), two, 'not one for each'],
    ['vectors of two lengths', reply(at(0, 1, 2), at(1, 1)), two, 'a vector of 1 numbers instead of 2'],
    ['a length that was not asked for', reply(at(0, 1, 2)), { ...one, dimensions: 3 }, '2 numbers instead of 3'],
    ['no numbers', reply(at(0)), one, 'without a direction'],
    ['the origin', reply(at(0, 0, 0)), one, 'without a direction'],
    ['what is beyond all numbers', reply(at(0, 1e300, 1e300)), one, 'without a direction'],
    ['too many numbers', reply(at(0, ...Array<number>(8_193).fill(1))), one, 'vectors of 8193 numbers'],
  ])('is refused when it is %s', (_, said, asked, problem) => {
    expect(readEmbeddings(said, asked)).toEqual({ problem: expect.stringContaining(problem) });
  });
});
