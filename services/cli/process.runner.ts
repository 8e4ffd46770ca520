import { runProgram } from './run-program.js';
import { processTerminal } from './terminal/index.js';

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => stop.abort());

process.exitCode = await runProgram(process.argv.slice(2), {
  terminal: processTerminal(process.env),
  env: process.env,
  now: () => Date.now(),
  signal: stop.signal,
});
