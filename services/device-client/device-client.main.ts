import { runCommandLine } from './cli/index.js';

const err = (text: string): void => void process.stderr.write(text);
const out = (text: string): void => void process.stdout.write(text);

// Loaded when it is needed: help answers at once.
void runCommandLine(process.argv.slice(2), { out, err }, async (options) =>
  (await import('./connection/index.js')).joinServer(options, err),
).then((code) => process.exit(code));
