import { runBench } from './bench.runner.js';

// The processes that a bench starts are ended when it exits: a signal must not skip that.
process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));

process.exitCode = await runBench(process.argv.slice(2), {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
});
