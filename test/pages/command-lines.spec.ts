import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { examplesInHelp, faultOf, orreryLines, orreryLinesOf } from './command-lines.js';
import { readPage } from './page.js';

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(import.meta.dirname, '../../docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
/** Of the launcher. */
const LAUNCHER = ['test'];

/** What is said against each of them, in front of the line. */
async function faultsOf(lines: readonly string[][]): Promise<string[]> {
  const ours = lines.filter(([verb = '']) => verb !== '' && !LAUNCHER.includes(verb));
  const said = await Promise.all(ours.map(async (words) => [words.join(' '), await faultOf(words)] as const));
  return said.flatMap(([line, fault]) => (fault === undefined ? [] : [`${line}: ${fault}`]));
}

it.each([
  ['run=$(./orrery submit -f a.json --json | jq -r .runId)', ['submit -f a.json --json']],
  ['./orrery output <run> [task] > a.log # one task', ['output x x']],
  ['A=b ./orrery people; orrery people add "anna b" \\\n  --key', ['people', 'people add anna b --key']],
  ['docker compose run --rm -T cli tokens issue anna > t', ['tokens issue anna']],
  ['docker compose run --rm people add anna', ['people add anna']],
  ['echo orrery | ./orrery propose $run -f -', ['propose x -f -']],
])('%s is taken apart', (script, lines) => {
  expect(orreryLines(script).map((words) => words.join(' '))).toEqual(lines);
});

it.each([
  [['export', 'x', 'run.jsonl'], /too many arguments/u],
  [['runs', '--colour'], /unknown option/u],
  [['nothing'], /unknown command/u],
])('%j is refused', async (words, fault) => {
  expect(await faultOf(words)).toMatch(fault);
});

it.each(PAGES)('%s types nothing that orrery does not know', async (page) => {
  expect(await faultsOf(orreryLinesOf(readPage(page)))).toEqual([]);
});

it('gives no example in a help that orrery does not know', async () => {
  const examples = examplesInHelp();
  expect(examples.length).toBeGreaterThan(100);
  expect(await faultsOf(examples.flatMap(orreryLines))).toEqual([]);
});
