import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
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

/** Of a target; each of them is found long before. */
const FRAMES = 100_000;
/** They take seconds; it is for what hangs. */
const CHILD_MS_MAX = 840_000;

/** With the number under which the program knows the endpoint, and its sound file. */
const NUMBERED = PLANTED.map((bug, number) => ({ ...bug, number, sound: readFileSync(join(ROOT, bug.file), 'utf8') }));

/** What is said of each endpoint: a process for all of them, so what is the same for all is loaded once. The sources stay as they are. */
function failuresOfAll(): Promise<ReadonlyMap<number, readonly string[]>> {
  const broken = NUMBERED.map(({ number, target, file, sound, text, becomes }) => ({
    number,
    target,
    frames: FRAMES,
    path: file,
    text: sound.replace(text, () => becomes),
  }));
  return new Promise((resolve, reject) => {
    const options = { timeout: CHILD_MS_MAX, env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' } };
    const words = ['--no-warnings', join(ROOT, 'test/fuzz/planted-bugs.mjs')];
    const child = execFile(process.execPath, words, options, (error, stdout, stderr) => {
      if (error !== null) reject(new Error(`not every endpoint was tried: ${stderr}`, { cause: error }));
      else resolve(new Map(stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))));
    });
    child.stdin?.end(JSON.stringify(broken));
  });
}

describe('the fuzzer finds', () => {
  let failures: ReadonlyMap<number, readonly string[]>;

  beforeAll(async () => {
    failures = await failuresOfAll();
  }, CHILD_MS_MAX);

  it.each(NUMBERED)('$what', ({ number, sound, text, says }) => {
    expect(sound.split(text)).toHaveLength(2);
    expect(failures.get(number)?.[0]).toContain(says);
  });
});
