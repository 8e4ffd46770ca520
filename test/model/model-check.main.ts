import { CONFIGURATIONS } from './configurations.js';
import { explore } from './explore.js';

/**
 * `node --import ./tools/specs/sources.mjs test/model/model-check.main.ts [part of a name …]`: explores
 * the configurations and prints a table; the shortest way to the first thing that is wrong, and exit code 1, when there is one.
 */
const names = process.argv.slice(2);
const wanted = CONFIGURATIONS.filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)));
const width = Math.max(...wanted.map(({ name }) => name.length));
const row = (name: string, ...cells: readonly (string | number)[]) =>
  console.log([name.padEnd(width), ...cells.map((cell) => String(cell).padStart(11))].join(' '));

row('configuration', 'states', 'transitions', 'depth', 'ends', 'seconds');
for (const configuration of wanted) {
  const before = performance.now();
  const { states, transitions, depth, ends, violation } = explore(configuration);
  const seconds = ((performance.now() - before) / 1000).toFixed(1);
  row(configuration.name, states, transitions, depth, ends, seconds);
  if (violation === null) continue;
  const { name, message, trace } = violation;
  console.log(`\n${name}: ${message}\n${trace.map((line) => `  ${line}`).join('\n')}\n`);
  process.exitCode = 1;
}
if (wanted.length === 0) {
  console.error(`no configuration has such a name; known are ${CONFIGURATIONS.map(({ name }) => name).join('; ')}`);
  process.exitCode = 1;
}
