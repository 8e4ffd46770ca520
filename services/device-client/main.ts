#!/usr/bin/env node
// What an old Node cannot read is loaded after this: it is told which one it has to be.
import { nodeComplaint } from './node-version.js';

/** The program cannot run here. */
const EXIT_OLD_NODE = 4;

const complaint = nodeComplaint(process.versions.node);
if (complaint === null) void import('./device-client.main.js');
else {
  process.stderr.write(`${complaint}\n`);
  process.exitCode = EXIT_OLD_NODE;
}
