import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { getProcessor } from 'sh-syntax';
import { DECISIONS } from '../words/finding.js';
import { openBashGrammar, openPolicy, type CommandPolicy } from '../index.js';

const lines = (name: string) =>
  readFileSync(join(import.meta.dirname, '../testing', name), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#') && !line.includes('json:'))
    .map((line) => line.split('\t').at(-1) ?? '');
const COMMANDS = [...lines('harmful.txt'), ...lines('ordinary.txt')];
const anyCommand = fc.constantFrom(...COMMANDS);
const SEED = { seed: 5 };

/** Any character, halves of characters included. (The unit `binary` of fast-check takes two seconds to be made.) */
const anyCharacter = fc.nat(0x10_ff_ff).map((code) => String.fromCodePoint(code));

let policy: CommandPolicy;
beforeAll(async () => {
  policy = openPolicy({}, await openBashGrammar());
});
const judge = (command: string) => policy.judge({ tool: 'EXEC_CLI', arguments: { command } }, undefined);
const strictness = (command: string) => DECISIONS.indexOf(judge(command).decision);
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** What is needed of a global that neither Node nor our `lib` has types for. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(module: object, imports: object): Promise<object>;
};

/** Compiled once: left to itself it compiles a megabyte for every text. */
async function otherReader() {
  const bytes = readFileSync(createRequire(import.meta.url).resolve('sh-syntax/main.wasm'));
  const module = await WebAssembly.compile(bytes);
  return getProcessor((imports: object) => WebAssembly.instantiate(module, imports));
}

describe('for any text', () => {
  it('there is an answer', () => {
    const texts = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 60 }),
      fc.string({ unit: fc.constantFrom(...' \n\'"`$(){}[]<>|&;#\\=~*?!abrm/-0'.split('')), maxLength: 40 }),
      fc
        .tuple(anyCommand, fc.nat(40), fc.constantFrom("'", '"', '`', '$(', ')', '\\', '\n', '<<E', ';', '\u0000'))
        .map(([command, at, extra]) => command.slice(0, at) + extra + command.slice(at)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const verdict = judge(text);
        expect(verdict.reasons.length).toBeGreaterThan(0);
        expect(verdict.reasons.join('')).not.toMatch(/[^\P{C}]/u);
      }),
      { ...SEED, numRuns: 250 },
    );
  });

  it('what another reader of shell text refuses is not let through', async () => {
    const texts = fc.string({
      unit: fc.constantFrom(...' \'"`$(){}<>|&;#\\=lsat -'.split('')),
      minLength: 1,
      maxLength: 14,
    });
    const parse = await otherReader();
    const wrong: string[] = [];
    let asked = 0;
    for (const text of fc.sample(texts, { ...SEED, numRuns: 800 })) {
      if (asked >= 40) break;
      const command = `ls ${text}`;
      if (strictness(command) > 1) continue;
      asked += 1;
      const isShell = await parse(command).then(
        () => true,
        () => false,
      );
      if (!isShell) wrong.push(command);
    }
    expect(wrong).toEqual([]);
  });
});

describe('a verdict never becomes laxer', () => {
  const wrappers: readonly ((command: string) => string)[] = [
    (command) => `sh -c ${quoted(command)}`,
    (command) => `eval ${quoted(command)}`,
    (command) => `{ ${command}\n}`,
    (command) => `(${command}\n)`,
    (command) => `if true; then ${command}\nfi`,
    (command) => `echo "$(${command}\n)"`,
    (command) => `env bash -c ${quoted(command)}`,
    (command) => `nice -n 5 timeout 9 bash -c ${quoted(command)}`,
    (command) => `sudo bash -c ${quoted(command)}`,
    (command) => `ls; ${command}`,
    (command) => `${command}\nls`,
    (command) => `bash <<'END_OF_TEXT'\n${command}\nEND_OF_TEXT`,
  ];
  it('when the command is wrapped', () => {
    fc.assert(
      fc.property(anyCommand, fc.constantFrom(...wrappers), (command, wrap) => {
        expect([wrap(command), strictness(wrap(command)) >= strictness(command)]).toEqual([wrap(command), true]);
      }),
      { ...SEED, numRuns: 500 },
    );
  });

  it('when quotes or backslashes are put into a word', () => {
    const plain = COMMANDS.filter((command) => /^[a-z][\w]*(?: [\w./-]+)+$/u.test(command));
    const disguise = (command: string, at: number, how: string) => {
      const letters = [...command.matchAll(/[a-z](?![^ ]*=)/gu)].map(({ index }) => index);
      const place = letters[at % letters.length] ?? 0;
      return `${command.slice(0, place)}${how}${command.slice(place)}`;
    };
    fc.assert(
      fc.property(fc.constantFrom(...plain), fc.nat(99), fc.constantFrom("''", '""', '\\'), (command, at, how) => {
        const other = disguise(command, at, how);
        expect([other, strictness(other) >= strictness(command)]).toEqual([other, true]);
      }),
      { ...SEED, numRuns: 400 },
    );
  });
});
