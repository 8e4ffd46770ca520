import { runProgram } from './run-program.js';
import { ENDING_SIGNALS, exitCodeOfSignal, processTerminal } from './terminal/index.js';

/** After the work, and after everything was printed. */
const LEFTOVERS_MS_MAX = 500;

const stop = new AbortController();
for (const name of ENDING_SIGNALS) process.once(name, () => stop.abort(name));

async function run(): Promise<void> {
  process.exitCode = await runProgram(process.argv.slice(2), {
    terminal: processTerminal(process.env),
    env: process.env,
    now: () => Date.now(),
    signal: stop.signal,
  });
  // What is still open then does not keep the program: a connection, for example, to a server that took it and says nothing.
  process.stdout.write('', endSoon);
  // A reader that does not read any more is not waited for by who wants an end.
  if (stop.signal.aborted) endSoon();
  stop.signal.addEventListener('abort', () => process.exit(exitCodeOfSignal(stop.signal)));
}

const endSoon = (): void => void setTimeout(() => process.exit(), LEFTOVERS_MS_MAX).unref();

void run();
