import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { IS_DEEP } from '#libs/testing';
import { whole } from './arguments.js';
import { ROOT } from './root.js';
import { FRAMES_DEFAULT, SEED_DEFAULT, SOCKET_SHARE, TARGETS } from './targets.js';

/** Of the default run. Each planted bug is found by fewer. */
const FRAMES_BRIEF = 50_000;

/** From the environment: another seed, or more frames, for who has the time. */
export const SEED = fromEnvironment('ORRERY_FUZZ_SEED', SEED_DEFAULT);
const ASKED = fromEnvironment('ORRERY_FUZZ_FRAMES', 0);
const FRAMES = ASKED || (IS_DEEP ? FRAMES_DEFAULT : FRAMES_BRIEF);
/** Over real sockets a frame costs little beside the servers that are started for them. */
export const SOCKET_FRAMES = Math.round((ASKED || FRAMES_DEFAULT) * SOCKET_SHARE);

const HOOKS = 'tools/specs/sources.mjs';
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * What the program prints as JSON, a line each; its words go to our standard output. A process of its own: in the sandbox
 * of the test runner the same work takes many times as long, and figures mean nothing.
 */
export function fuzzProgram<T>(args: readonly string[]): Promise<T[]> {
  const program = join(ROOT, 'test/fuzz/fuzz.main.ts');
  const words = ['--no-warnings', '--import', join(ROOT, HOOKS), program, ...args, '--json'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, words, { cwd: ROOT, maxBuffer: OUTPUT_BYTES_MAX }, (error, stdout, stderr) => {
      process.stdout.write(stderr);
      const lines = stdout.split('\n').filter((line) => line !== '');
      if (lines.length === 0) reject(new Error(`the fuzz program printed nothing: ${stderr}`, { cause: error }));
      else resolve(lines.map((line) => JSON.parse(line) as T));
    });
  });
}

/** Frames of the default run that are this target's. */
export function framesFor(name: string): number {
  const found = TARGETS.find(({ target }) => target.name === name);
  if (found === undefined) throw new Error(`there is no target ${name}`);
  return Math.round(FRAMES * found.share);
}

function fromEnvironment(name: string, otherwise: number): number {
  const text = process.env[name];
  return text === undefined || text === '' ? otherwise : whole(name, text);
}
