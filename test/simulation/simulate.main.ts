import { parseArguments, type SimulateArguments, UsageError } from './arguments.js';
import { shrink } from './shrink.js';
import { simulate, type SimulationResult } from './simulation.js';
import { describeFailure, Tally } from './tally.js';

const BAD_INPUT = 3;
/** More failures than these teach nothing new. */
const DESCRIBED_MAX = 5;

const out = (text: string) => void process.stdout.write(`${text}\n`);

async function main(argv: readonly string[]): Promise<number> {
  const options = parseArguments(argv);
  return options.seeds === 1 ? one(options) : many(options);
}

async function one({ from: seed, bug, only, verbose }: SimulateArguments): Promise<number> {
  const result = await simulate({ seed, bug, only, verbose });
  for (const line of result.lines) out(line);
  const { requests, tasks, commits, virtualMs, strikes, hash } = result;
  out(
    `seed ${seed}: ${tasks} tasks in ${requests.length} requests, ${commits} commits, ` +
      `${Math.round(virtualMs / 1_000)} virtual seconds, ${strikes.length} faults, trace ${hash}`,
  );
  if (result.failure === null) return 0;
  out(describeFailure(only === undefined ? await shrink(result, bug) : result, bug));
  return 1;
}

async function many({ from, seeds, bug, only, verbose }: SimulateArguments): Promise<number> {
  const tally = new Tally();
  const described: SimulationResult[] = [];
  const began = performance.now();
  for (let seed = from; seed < from + seeds; seed++) {
    const result = await simulate({ seed, bug, only });
    tally.add(result);
    if (verbose) out(`seed ${seed}: trace ${result.hash} ${result.failure?.check ?? 'ok'}`);
    if (result.failure !== null && described.push(result) <= DESCRIBED_MAX) {
      out(describeFailure(await shrink(result, bug), bug));
    }
  }
  out(`${String(tally)}\n${((performance.now() - began) / 1_000).toFixed(1)} s`);
  if (tally.failed.length > 0) out(`failed: ${tally.failed.map(({ seed }) => seed).join(', ')}`);
  return tally.failed.length > 0 ? 1 : 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = BAD_INPUT;
}
