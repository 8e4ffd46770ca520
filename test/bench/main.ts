import { runBench } from './bench.runner.js';

process.exitCode = await runBench(process.argv.slice(2), {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
});
