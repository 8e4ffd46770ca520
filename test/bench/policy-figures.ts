import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBashGrammar, openPolicy } from '#libs/command-policy';
import { parseHarmful, parseOrdinary } from '../../libs/command-policy/testing/corpus.js';
import { WRAPPINGS } from '../../libs/command-policy/testing/wrappers.js';
import type { CoreFigure } from './core-figures.js';
import { medianOf, spreadOf, type Spread } from './statistics.js';

const ROUNDS = 5;
const US_MAX = 1_000;

/** What it takes to judge command lines, beside what it takes the grammar to read the same ones. */
export async function policyFigures(): Promise<CoreFigure[]> {
  const grammar = await openBashGrammar();
  const policy = openPolicy({}, grammar);
  const judge = (command: string) => void policy.judge({ tool: 'EXEC_CLI', arguments: { command } }, undefined);
  const parse = (command: string) => void grammar.parse(command);
  return linesOfCorpus().flatMap(([name, commands]) => {
    const [judged, parsed] = [perLine(commands, judge), perLine(commands, parse)];
    return (['median', 'p99'] as const).map((part) => figure(`${name}, ${label(part)}`, part, judged, parsed));
  });
}

const label = (part: 'median' | 'p99'): string => (part === 'median' ? 'p50' : part);

function figure(what: string, part: 'median' | 'p99', judged: Spread, parsed: Spread): CoreFigure {
  return {
    what: `judge one of ${judged.count} ${what}`,
    value: judged[part],
    unit: 'us',
    beside: { what: 'its grammar alone', value: parsed[part] },
    aim: { limit: US_MAX, atLeast: false, ofRatio: false },
  };
}

/** Microseconds per line: of each line the median of its rounds, so that what else the machine does is no part of it. */
function perLine(commands: readonly string[], work: (command: string) => void): Spread {
  commands.forEach(work);
  const timesOf = commands.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, command] of commands.entries()) {
      const began = performance.now();
      work(command);
      timesOf[index]?.push((performance.now() - began) * 1_000);
    }
  }
  return spreadOf(timesOf.map(medianOf));
}

function linesOfCorpus(): [name: string, commands: string[]][] {
  const harmful = parseHarmful(read('harmful.txt')).map(({ command }) => command);
  const wrapped = Object.values(WRAPPINGS).flatMap((wrap) => harmful.map(wrap));
  return [
    ['ordinary command lines', parseOrdinary(read('ordinary.txt')).map(({ command }) => command)],
    ['harmful command lines', harmful],
    ['harmful command lines under wrappers', wrapped],
  ];
}

/** Beside the sources, also for what is compiled of them. */
function read(name: string): string {
  const file = fileURLToPath(import.meta.url);
  const root = file.slice(0, file.search(/\/(?:dist\/)?test\/bench\//u));
  return readFileSync(join(root, 'libs/command-policy/testing', name), 'utf8');
}
