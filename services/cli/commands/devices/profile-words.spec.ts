import { describe, expect, it } from '@jest/globals';
import { keysFrom, profileFrom } from './profile-words.js';

describe('key=value', () => {
  it.each([
    ['gpu.memory_gb=48', 48],
    ['rack.row=7', 7],
    ['spare=true', true],
    ['hours=18-6', '18-6'],
    ['version="24.04"', '24.04'],
    ['roles=db,web', ['db', 'web']],
    ['roles=["db"]', ['db']],
    ['paths.logs=/var/log/a=b', '/var/log/a=b'],
    ['addresses.port=8080', '8080'],
    ['rack={"row":7}', { row: 7 }],
  ])('%s is typed', (word, value) => expect(Object.values(profileFrom([word]))).toEqual([value]));

  it.each([
    ['gpu.memory_gb', /written as key=value/u],
    ['=7', /written as key=value/u],
    ['__proto__=1', /__proto__: a name has/u],
    ['db_password=x', /db_password: is the name of a secret/u],
    ['rack=NaN', /no number that can be compared/u],
    ['rack=-Infinity', /no number that can be compared/u],
    ['rack=1e999', /finite/u],
    ['rack=null', /unset/u],
    ['rack=a\u202eb', /control characters/u],
    ['gpu.memory_gb=much', /must be a number/u],
    ['r\u202eack=1', /a name has/u],
  ])('%j is refused, and nothing of it is hidden', (word, why) => {
    expect(() => profileFrom([word])).toThrow(why);
    expect(() => profileFrom([word])).not.toThrow(/\u202e/u);
  });

  it('has the last of what is said twice', () => expect(profileFrom(['rack=1', 'rack=2'])).toEqual({ rack: 2 }));
});

it('what is to go away is named', () => {
  expect(keysFrom(['rack', 'rack', 'paths.logs'])).toEqual(['rack', 'paths.logs']);
  expect(() => keysFrom(['constructor'])).toThrow(/is no name/u);
});
