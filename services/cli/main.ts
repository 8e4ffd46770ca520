/**
 * The program `orrery`: its commands, what they print, and the embedded system that `orrery up` runs. What a service or another
 * program needs as well is in libs; here nobody decides about a run, and nothing is stored but files that a person asked for.
 */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Before anything is loaded that could come from it. Where it cannot be written, everything is compiled as ever.
enableCompileCache(fileURLToPath(new URL('../../../.cache/node-compile', import.meta.url)));
await import('./process.runner.js');
