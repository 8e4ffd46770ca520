/**
 * The program `orrery`: its commands, what they print, and the embedded system that `orrery up` runs. What a service or another
 * program needs as well is in libs; here nobody decides about a run, and nothing is stored but files that a person asked for.
 */
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
