import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, it } from '@jest/globals';
import fc from 'fast-check';
import { openBashGrammar, openPolicy, type CommandPolicy } from '../index.js';
import { parseHarmful, parseOrdinary } from './corpus.js';
import { disguised, DISGUISES } from './noise.js';

const SEED = 20_261_121;
const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
const harmful = parseHarmful(read('harmful.txt')).map(({ command }) => command);
/** One line each, and nothing that the rest of the line would become a part of. */
const reading = parseOrdinary(read('ordinary.txt'))
  .filter(({ class: of, asked, command }) => of === 'read' && !asked && !/[\n#&]|^(?:cd|nohup)\b/u.test(command))
  .map(({ command }) => command);

let policy: CommandPolicy;
beforeAll(async () => {
  policy = openPolicy({}, await openBashGrammar());
});

const judge = (command: string) => policy.judge({ tool: 'EXEC_CLI', arguments: { command } }, undefined);

const disguises = fc.array(fc.constantFrom(...DISGUISES), { minLength: 1, maxLength: 3 });

it('whatever stands around a harmful command, it is not let through', () => {
  fc.assert(
    fc.property(fc.constantFrom(...harmful), disguises, (command, around) => {
      const { decision, rule } = judge(disguised(command, around));
      return decision === 'approve' || decision === 'deny' ? true : fail(`${decision} by ${rule}`);
    }),
    { seed: SEED, numRuns: 1_000 },
  );
});

const command = fc.constantFrom(...reading);
const joined = fc.tuple(command, fc.constantFrom('; ', ' && ', ' || ', '\n'), command).map((parts) => parts.join(''));

it('plain commands one after the other ask for nothing', () => {
  const together = fc.oneof(
    joined,
    joined.map((text) => `  ${text}  # done\n`),
  );
  fc.assert(
    fc.property(together, (text) => {
      const { decision, rule } = judge(text);
      return decision === 'allow' ? true : fail(`${decision} by ${rule}`);
    }),
    { seed: SEED, numRuns: 200 },
  );
});

it('what holds them together otherwise is asked about, and nothing worse is said of it', () => {
  const held = fc.oneof(
    joined.map((text) => `{ ${text}; }`),
    joined.map((text) => `(${text})`),
    joined.map((text) => `x=1; ${text}`),
    fc.tuple(command, joined).map(([test, text]) => `if ${test}; then ${text}; fi`),
    joined.map((text) => `for i in 1 2 3; do\n${text}\ndone`),
  );
  fc.assert(
    fc.property(held, (text) => {
      const { class: of, decision, rule } = judge(text);
      return of === 'read' && decision === 'approve' && rule === 'not-plain' ? true : fail(`${decision} by ${rule}`);
    }),
    { seed: SEED, numRuns: 200 },
  );
});

function fail(message: string): never {
  throw new Error(message);
}
