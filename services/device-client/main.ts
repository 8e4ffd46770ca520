#!/usr/bin/env node
import { runCommandLine } from './command-line.js';

const err = (text: string): void => void process.stderr.write(text);
const out = (text: string): void => void process.stdout.write(text);

// Loaded when it is needed: help answers at once.
const code = await runCommandLine(process.argv.slice(2), { out, err }, async (options) =>
  (await import('./join.runner.js')).joinServer(options, err),
);
process.exit(code);
