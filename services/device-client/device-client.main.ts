import { setFlagsFromString } from 'node:v8';
import { runCommandLine } from './cli/index.js';

// Garbage is cleared away in small portions: a file of 100 MB would otherwise cost 50 MB of memory that nobody needs, on a
// machine whose memory is for others.
setFlagsFromString('--semi-space-growth-factor=1');

const err = (text: string): void => void process.stderr.write(text);
const out = (text: string): void => void process.stdout.write(text);

// Loaded when it is needed: help answers at once.
const code = await runCommandLine(process.argv.slice(2), { out, err }, async (options) =>
  (await import('./connection/index.js')).joinServer(options, err),
);
process.exit(code);
