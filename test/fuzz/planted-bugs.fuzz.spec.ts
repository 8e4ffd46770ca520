import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fuzzProgram } from './child.js';
import type { Figures } from './figures.js';
import { ROOT } from './root.js';

/** A line of an endpoint that is broken on purpose, and what has to be said about it. */
interface PlantedBug {
  readonly what: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly text: string;
  readonly becomes: string;
  readonly target: string;
  readonly says: string;
}

const PLANTED: readonly PlantedBug[] = [
  {
    what: 'a frame that cannot be read is passed over',
    file: 'libs/aip/session/session.ts',
    text: 'return refuse(session, errorMessage(input.error), nowMs);',
    becomes: 'return [session, []];',
    target: 'device-server',
    says: 'a wrong frame was silent',
  },
  {
    what: 'a frame counts twice',
    file: 'libs/aip/frames/sequence.ts',
    text: "if (seq <= this.#taken) return { kind: 'duplicate' };",
    becomes: "if (seq <= this.#taken) return { kind: 'fresh', latencyMs: undefined };",
    target: 'device-server',
    says: 'a frame that was taken before had an effect',
  },
  {
    what: 'a piece that has a byte of its head',
    file: 'libs/aip/frames/binary-piece.ts',
    text: 'data: bytes.subarray(end) };',
    becomes: 'data: bytes.subarray(end - 1) };',
    target: 'device-server',
    says: 'a piece came with other bytes',
  },
  {
    what: 'a reason that fits into no close frame',
    file: 'libs/aip/session/session-answers.ts',
    text: ".replaceAll(NOT_PRINTABLE, '?')",
    becomes: '',
    target: 'device-server',
    says: 'closed with a reason that is too long',
  },
  {
    what: 'a TASK that nobody ends',
    file: 'libs/aip/session/constellation-session.ts',
    text: 'if (deviceId === null) return refuseTask(session, task, { error: NO_TARGET, nowMs });',
    becomes: 'if (deviceId === null) return [session, []];',
    target: 'constellation-server',
    says: 'has no TASK_END',
  },
  {
    what: 'a device that is ready again and again',
    file: 'libs/aip/link/device-link.ts',
    text: "if (link.phase !== 'RESUMING') return [link, []];",
    becomes: "if (!('server' in link)) return [link, []];",
    target: 'device-client',
    says: 'the device was ready twice',
  },
];

const COPIED = ['proto', 'libs', 'tools/specs', 'test/fuzz', 'test/simulation', 'package.json', '.swcrc'];
/** Of a target; each of them is found long before. */
const FRAMES = '100000';

/** A tree of its own, so that nobody ever meets a broken endpoint. */
let tree = '';

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'orrery-fuzz-'));
  for (const path of COPIED) cpSync(join(ROOT, path), join(tree, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
});

afterAll(() => rmSync(tree, { recursive: true, force: true }));

describe('the fuzzer finds', () => {
  it.each(PLANTED)('$what', async ({ file, text, becomes, target, says }) => {
    const path = join(tree, file);
    const sound = readFileSync(path, 'utf8');
    expect(sound.split(text)).toHaveLength(2);
    writeFileSync(
      path,
      sound.replace(text, () => becomes),
    );
    try {
      const words = ['--target', target, '--frames', FRAMES, '--first'];
      const [figures] = await fuzzProgram<Figures>(words, { root: tree, quiet: true });
      expect(figures?.failures[0]).toContain(says);
    } finally {
      writeFileSync(path, sound);
    }
  });
});
