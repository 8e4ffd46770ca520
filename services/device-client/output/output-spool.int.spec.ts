import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ExecCliInput } from '../exec/exec-cli.js';
import { ExecCli, type Executed } from '../exec/exec-cli.runner.js';
import { ExecSettings } from '../exec/exec-settings.js';
import { until } from '../testing/until.js';
import { clearOutputs } from './output-spool.adapter.js';

const MIB = 1024 * 1024;
let root: string;
let dir: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'orrery-spool-'));
  dir = join(root, 'outputs');
  await clearOutputs({ dir });
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** A limit for what hangs: hundreds of megabytes take their time on a busy machine. */
const HANGS_SECONDS = 600;

function run(
  command: string,
  { bytesMax = 64 * MIB, at = dir, signal = new AbortController().signal, ...input }: Partial<Options> = {},
): Promise<Executed> {
  const exec = new ExecCli({
    settings: ExecSettings.parse({ jailDir: join(root, 'jail'), spool: { dir: at, bytesMax } }),
    env: process.env,
    now: () => 0,
  });
  const caller = { signal, tell: () => Promise.resolve(), isAgents: false };
  return exec.runWhole(ExecCliInput.parse({ command, timeout: HANGS_SECONDS, ...input }), caller);
}
interface Options {
  bytesMax: number;
  at: string;
  signal: AbortSignal;
  timeout: number;
}

const sumOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** Lines that are all different, made by the command itself. */
const LINES = 'awk \'BEGIN { for (n = 0; n < 400000; n++) printf "%07d\\n", n }\'';
const lines = (): Buffer =>
  Buffer.from(Array.from({ length: 400_000 }, (_, n) => `${String(n).padStart(7, '0')}\n`).join(''));

describe('an output that is longer than a result holds', () => {
  it('is kept whole in a file, head and tail stay in the result', async () => {
    const { result, files } = await run(`${LINES}; ${LINES} | head -c 1500000 >&2; exit 3`);
    expect(result).toMatchObject({ exit_code: 3, stdout_bytes: 3_200_000, stderr_bytes: 1_500_000 });
    expect(result.stdout.startsWith('0000000\n')).toBe(true);
    expect(result.stdout.endsWith('0399999\n')).toBe(true);
    const [stdout, stderr] = [lines(), lines().subarray(0, 1_500_000)];
    expect(files.stdout).toMatchObject({ error: null, file: { sha256: sumOf(stdout), bytes: 3_200_000 } });
    expect(files.stderr).toMatchObject({ error: null, file: { sha256: sumOf(stderr), bytes: 1_500_000 } });
    expect((await readFile(join(dir, files.stdout?.file?.name ?? ''))).equals(stdout)).toBe(true);
    expect((await readFile(join(dir, files.stderr?.file?.name ?? ''))).equals(stderr)).toBe(true);
  });

  it('is kept from the first byte that is too many, and not before', async () => {
    expect((await run("head -c 900000 /dev/zero | tr '\\0' x")).files).toEqual({});
    const { files } = await run(`head -c ${MIB + 1} /dev/zero | tr '\\0' x`);
    expect(files.stdout?.file?.bytes).toBe(MIB + 1);
    expect((await readdir(dir)).length).toBe(1);
  });

  it('is kept, too, when it only becomes too long as text in a frame', async () => {
    // Every zero is six characters there.
    const { result, files } = await run('head -c 400000 /dev/zero; echo short >&2');
    expect(result.stdout).toHaveLength(400_000);
    expect(files).toMatchObject({ stdout: { file: { sha256: sumOf(Buffer.alloc(400_000)), bytes: 400_000 } } });
    expect(files.stderr).toBeUndefined();
  });

  it('is kept of a command that was ended by its timeout', async () => {
    const within = (timeout: number) => run(`${LINES}; sleep 60`, { timeout });
    let [timeout, { result, files }] = [2, await within(2)];
    // A machine may be too busy for all of it to be written in that time.
    while ((result.stdout_bytes ?? 0) < lines().length) ({ result, files } = await within((timeout *= 2)));
    expect(result.status).toBe('TIMEOUT');
    expect(files.stdout?.file?.sha256).toBe(sumOf(lines()));
  });

  it('is not kept of a command that was stopped', async () => {
    const stop = new AbortController();
    const running = run(`${LINES}; sleep 60`, { signal: stop.signal });
    // As soon as there is something to be kept.
    await until(async () => (await readdir(dir)).length > 0 || undefined);
    stop.abort();
    expect((await running).files).toEqual({});
    expect(await readdir(dir)).toEqual([]);
  });

  it('is kept as far as it may be, and that is said', async () => {
    const { result, files } = await run(LINES, { bytesMax: 2_000_000 });
    expect(result).toMatchObject({ exit_code: 0, stdout_bytes: 3_200_000 });
    expect(files.stdout).toEqual({
      file: { name: expect.any(String), sha256: sumOf(lines().subarray(0, 2_000_000)), bytes: 2_000_000 },
      error: 'only its first 2000000 bytes',
    });
  });

  it('is no reason for a command to fail when the disk does not take it', async () => {
    const { result, files } = await run(LINES, { at: join(root, 'nowhere') });
    expect(result).toMatchObject({ exit_code: 0, stdout_bytes: 3_200_000 });
    expect(files.stdout).toEqual({ file: null, error: 'the disk of the device: ENOENT' });
  });

  it('is not held in memory, however fast it comes', async () => {
    const before = process.memoryUsage().rss;
    const { result, files } = await run('head -c 200000000 /dev/zero', { bytesMax: 512 * MIB });
    expect(result.stdout_bytes).toBe(200_000_000);
    expect(files.stdout?.file?.bytes).toBe(200_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MIB);
  });
});
