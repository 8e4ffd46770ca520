import { text } from 'node:stream/consumers';
import { runSetup } from './setup.runner.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

void runSetup(process.argv.slice(2), { env: process.env, say, input: () => text(process.stdin) })
  .catch((error: unknown) => {
    process.stderr.write(`setup: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  })
  .then((code) => (process.exitCode = code));
