import { runProgram } from './run-program.js';
import { processTerminal } from './terminal/index.js';

/** After the work, and after everything was printed. */
const LEFTOVERS_MS_MAX = 500;

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => stop.abort());

async function run(): Promise<void> {
  process.exitCode = await runProgram(process.argv.slice(2), {
    terminal: processTerminal(process.env),
    env: process.env,
    now: () => Date.now(),
    signal: stop.signal,
  });
  // What is still open then does not keep the program: a connection, for example, to a server that took it and says nothing.
  process.stdout.write('', () => setTimeout(() => process.exit(), LEFTOVERS_MS_MAX).unref());
}

void run();
