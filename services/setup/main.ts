import { text } from 'node:stream/consumers';
import { runSetup } from './setup.runner.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  process.exitCode = await runSetup(process.argv.slice(2), {
    env: process.env,
    say,
    input: () => text(process.stdin),
  });
} catch (error) {
  process.stderr.write(`setup: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
