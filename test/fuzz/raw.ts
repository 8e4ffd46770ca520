import type { Dice } from '../simulation/random.js';

type Breaker = (text: string, dice: Dice) => string | null;

const NESTED_MAX = 100_000;
const LARGE_CHARS = 1_200_000;

/** What JSON has no place for, or parsers disagree about. */
const TOKENS = [
  'NaN',
  '-Infinity',
  '1e400',
  '0x10',
  '01',
  '+1',
  '.5',
  "'x'",
  'undefined',
  'true false',
  '{"a":1,}',
  '[1,]',
  '"\\ud800"',
  '"\\u0000"',
  '"\\x41"',
  '/**/1',
  '//',
  '\ufeff{}',
];

/** Below the level of trees: text that was a good frame, and bytes that never were. Null is a binary frame that says nothing. */
export const BREAKERS: readonly Breaker[] = [
  () => null,
  () => '',
  (text, dice) => text.slice(0, dice.int(0, text.length)),
  (text, dice) => text.slice(dice.int(0, text.length)),
  (text, dice) => {
    const from = dice.int(0, text.length);
    return text.slice(0, from) + text.slice(dice.int(from, text.length));
  },
  (text, dice) => {
    const from = dice.int(0, text.length);
    return text.slice(0, from) + text.slice(dice.int(0, from), dice.int(from, text.length)) + text.slice(from);
  },
  (text, dice) => {
    const changes = dice.int(1, 8);
    const units = text.split('');
    for (let count = 0; count < changes && units.length > 0; count++) {
      units[dice.int(0, units.length - 1)] = String.fromCharCode(dice.int(0, dice.chance(0.8) ? 127 : 65_535));
    }
    return units.join('');
  },
  (_, dice) => Array.from({ length: dice.int(0, 200) }, () => String.fromCharCode(dice.int(0, 255))).join(''),
  (_, dice) => Array.from({ length: dice.int(0, 50) }, () => String.fromCharCode(dice.int(0, 65_535))).join(''),
  (_, dice) => '[{"a":'.repeat(dice.int(1, NESTED_MAX) / 10),
  (_, dice) => '['.repeat(dice.int(1, NESTED_MAX)),
  (text, dice) => text.replace(/:("[^"]*"|\d+|null)/u, () => `:${dice.pick(TOKENS)}`),
  (_, dice) => dice.pick(TOKENS),
  // The same key twice: the last one counts.
  (text, dice) => text.replace('{', () => `{${dice.pick(DOUBLES)},`),
  (text, dice) => text.replace(/\}$/u, () => `,${dice.pick(DOUBLES)}}`),
  (text, dice) =>
    dice.chance(0.05) ? `${text.slice(0, -1)},"padding":"${'x'.repeat(LARGE_CHARS)}"}` : `${text}${text}`,
  (text, dice) => `${dice.pick([' ', '\n', '\t\r\n', '\u00a0', '\u0000'])}${text}`,
];

const DOUBLES = [
  '"type":"register"',
  '"type":"heartbeat"',
  '"client_id":"dev-2"',
  '"client_type":"constellation"',
  '"seq":1',
  '"status":"ok"',
  '"__proto__":{"type":"register"}',
];
