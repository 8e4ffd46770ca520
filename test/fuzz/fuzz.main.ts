import { parseArguments, UsageError, type FuzzArguments } from './arguments.js';
import { campaign, summaryOf } from './campaign.js';
import { readCorpus } from './corpus.js';
import { figuresOf } from './figures.js';
import { describeCase, planCase, runCase, shrinkCase } from './fuzz-case.js';
import { Generator } from './generator.js';
import { ROOT } from './root.js';
import { FRAME_MS_MAX } from './targets.js';
import { worstCosts } from './worst-frames.js';

const BAD_INPUT = 3;

async function main(argv: readonly string[]): Promise<number> {
  const given = parseArguments(argv);
  if (given.worst) return worst(given);
  const generator = new Generator(readCorpus(ROOT));
  return given.number === undefined ? all(given, generator) : one(given, given.number, generator);
}

async function all({ seed, frames, targets, first, json }: FuzzArguments, generator: Generator): Promise<number> {
  const shares = targets.reduce((sum, { share }) => sum + share, 0);
  let broken = 0;
  for (const { target, share } of targets) {
    const options = {
      target,
      generator,
      seed,
      frames: Math.round((frames * share) / shares),
      ...(first && { failuresMax: 1 }),
    };
    const result = await campaign(options);
    say(json, [summaryOf(result, options), ...result.failures].join('\n\n'));
    if (json) print(JSON.stringify(figuresOf(target, result)));
    broken += result.failures.length;
  }
  return broken > 0 ? 1 : 0;
}

function one({ seed, targets }: FuzzArguments, number: number, generator: Generator): number {
  for (const { target } of targets) {
    const planned = planCase({ seed, number }, target, generator);
    const { failure, verdicts } = runCase(planned);
    for (const { state, outcome } of verdicts) print(`${state}: ${outcome}`);
    if (failure === null) continue;
    print(describeCase(shrinkCase(planned, failure), failure));
    return 1;
  }
  return 0;
}

function worst({ first, json }: FuzzArguments): number {
  const costs = worstCosts(first ? FRAME_MS_MAX : 0);
  const lines = costs.map(
    ({ size, name, outcome, ms }) => `${ms.toFixed(0).padStart(6)} ms ${size}, ${name}: ${outcome}`,
  );
  say(json, lines.join('\n'));
  if (json) print(JSON.stringify(costs));
  return 0;
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);
/** Words for people are beside the figures, or alone. */
const say = (json: boolean, text: string): void => void (json ? process.stderr : process.stdout).write(`${text}\n`);

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = BAD_INPUT;
}
