import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ToolOutput } from '#libs/mcp';
import { AIP_LIMITS, type ExecCliResult } from '#proto';
import { EXEC_LIMITS, ExecCliInput } from './exec-cli.js';
import { ExecCli } from './exec-cli.runner.js';
import { ExecSettings } from './exec-settings.js';
import { isAlive, pidIn, until } from '../testing/until.js';

let root: string;
let exec: ExecCli;
let settings: ExecSettings;
const run = (input: Partial<ExecCliInput> & { command: string }, signal = new AbortController().signal) =>
  exec.run(ExecCliInput.parse(input), signal, () => Promise.resolve());

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'orrery-exec-')));
  const env = { PATH: process.env['PATH'], HOME: '/root', SECRET_TOKEN: 'canary-4711', ORRERY_TOKEN: 'canary-4712' };
  settings = ExecSettings.parse({ jailDir: join(root, 'jail') });
  exec = new ExecCli({ settings, env, now: () => Date.UTC(2026, 10, 20) });
});
afterEach(async () => {
  await exec.endAll();
  await rm(root, { recursive: true, force: true });
});

const pidFile = (): Promise<number> => pidIn(join(root, 'jail', 'pid'));

/** Given more and more time, until it has written its process id before that was over. */
async function timedOut(command: string): Promise<ExecCliResult> {
  for (let timeout = 1; ; timeout *= 2) {
    const result = await run({ command, timeout });
    if (result.status !== 'TIMEOUT' || (await readdir(join(root, 'jail'))).includes('pid')) return result;
  }
}

describe('EXEC_CLI', () => {
  it('reports output, exit code and duration of a command', async () => {
    const result = await run({ command: 'echo out; echo err >&2' });
    expect(result).toEqual({
      stdout: 'out\n',
      stderr: 'err\n',
      exit_code: 0,
      command: 'echo out; echo err >&2',
      execution_time: expect.any(Number),
      timestamp: '2026-11-20T00:00:00.000Z',
      status: 'SUCCESS',
      stdout_bytes: 4,
      stderr_bytes: 4,
    });
  });

  it.each([
    ['exit 7', 7],
    ['no-such-program-here', 127],
    ['/etc/passwd', 126],
    ['kill -KILL $$', 137],
    ['sh -c "kill -TERM \\$\\$"; exit $?', 143],
  ])('gives the exit code of %s as the shell does: %i', async (command, exitCode) => {
    expect(await run({ command })).toMatchObject({ exit_code: exitCode, status: 'ERROR' });
  });

  it('starts in the jail directory, which it makes', async () => {
    expect((await run({ command: 'pwd' })).stdout).toBe(`${join(root, 'jail')}\n`);
  });

  it('starts a relative working directory from the jail directory', async () => {
    await run({ command: 'mkdir sub' });
    expect((await run({ command: 'pwd', working_directory: 'sub' })).stdout).toBe(`${join(root, 'jail', 'sub')}\n`);
  });

  it('refuses a working directory that is not there, without running the command', async () => {
    await expect(run({ command: 'touch ran', working_directory: '/no/such/place' })).rejects.toThrow(
      'working_directory /no/such/place is not a directory.',
    );
    expect((await run({ command: 'ls' })).stdout).toBe('');
  });

  it('passes standard input, and an end of file when there is none', async () => {
    expect((await run({ command: 'cat', stdin: 'äöü\n' })).stdout).toBe('äöü\n');
    expect((await run({ command: 'cat; echo done' })).stdout).toBe('done\n');
  });

  it('survives a command that does not read its input', async () => {
    expect(await run({ command: 'true', stdin: 'x'.repeat(1_000_000) })).toMatchObject({ exit_code: 0 });
  });

  it('gives a minimal environment with the given variables and none of the secrets of its own process', async () => {
    const { stdout } = await run({ command: 'env', env: { GIVEN: 'yes', HOME: '/elsewhere' } });
    const names = stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('=')[0]]));
    expect(stdout).toContain('GIVEN=yes\n');
    expect(stdout).toContain('HOME=/elsewhere\n');
    expect(stdout).not.toContain('canary');
    expect(new Set(names)).toEqual(new Set(['GIVEN', 'HOME', 'ORRERY_COMMAND', 'PATH', 'PWD', 'SHELL', 'TERM']));
  });

  it('keeps head and tail of each stream with the number of bytes, whatever was in between', async () => {
    const { stdout, stdout_bytes: bytes } = await run({
      command: 'echo first; head -c 20000000 /dev/zero | tr "\\0" x; echo last',
    });
    expect(bytes).toBe(20_000_011);
    expect(Buffer.byteLength(stdout)).toBeLessThan(EXEC_LIMITS.headBytesMax + EXEC_LIMITS.tailBytesMax + 100);
    expect(stdout.startsWith('first\nxxx')).toBe(true);
    expect(stdout.endsWith('xxxlast\n')).toBe(true);
    expect(stdout).toContain(`[... ${20_000_011 - 1024 * 1024} bytes omitted ...]`);
  });

  it('kills the whole family after the timeout, also members that ignore SIGTERM', async () => {
    const stubborn = `trap '' TERM; echo before; echo $$ > pid; while :; do sleep 0.1; done`;
    const result = await timedOut(`sh -c "${stubborn.replaceAll('$', '\\$')}" & wait`);
    expect(result).toMatchObject({ exit_code: 124, status: 'TIMEOUT', stdout: 'before\n' });
    expect(await isAlive(await pidFile())).toBe(false);
  });

  it('ends the family when it is cancelled, and says so only when it has ended', async () => {
    const cancel = new AbortController();
    const running = run({ command: 'sh -c "echo \\$\\$ > pid; sleep 600"; true', timeout: 600 }, cancel.signal);
    const pid = await pidFile();
    expect(await isAlive(pid)).toBe(true);
    cancel.abort();
    await running;
    expect(await isAlive(pid)).toBe(false);
  });

  it('runs nothing that was cancelled before', async () => {
    await expect(run({ command: 'touch ran' }, AbortSignal.abort())).rejects.toThrow('cancelled before it was started');
    expect((await run({ command: 'ls' })).stdout).toBe('');
  });

  it('runs nothing that was cancelled while it was made ready', async () => {
    const cancel = new AbortController();
    // The time is looked at when everything is ready.
    exec = new ExecCli({ settings, env: process.env, now: () => (cancel.abort(), 0) });
    await expect(run({ command: 'touch ran; sleep 600' }, cancel.signal)).rejects.toThrow('before it was started');
    expect((await run({ command: 'ls' })).stdout).toBe('');
  });

  it('does not wait for what a command left in the background, and ends it', async () => {
    const result = await run({ command: 'sleep 600 & echo $! > pid; echo done' });
    expect(result).toMatchObject({ exit_code: 0, stdout: 'done\n' });
    expect(await isAlive(await pidFile())).toBe(false);
  });

  it.each([
    [
      'its own session',
      'SUCCESS',
      'setsid sh -c "echo \\$\\$ > pid; sleep 600" & until [ -s pid ]; do sleep 0.01; done',
    ],
    [
      'a session of its child',
      'SUCCESS',
      'setsid -f sh -c "setsid -f sh -c \'echo \\$\\$ > pid; sleep 600\'"; until [ -s pid ]; do sleep 0.01; done',
    ],
    ['its own session, by its timeout', 'TIMEOUT', 'setsid sh -c "echo \\$\\$ > pid; sleep 600" & sleep 600'],
  ])('ends also what started %s', async (_, status, command) => {
    const ended = status === 'TIMEOUT' ? timedOut(command) : run({ command: `${command}; echo done`, timeout: 60 });
    expect((await ended).status).toBe(status);
    expect(await isAlive(await pidFile())).toBe(false);
  });

  it('ends it also when everything is ended', async () => {
    const running = run({ command: 'setsid sh -c "echo \\$\\$ > pid; sleep 600"; true', timeout: 600 });
    const pid = await pidFile();
    await exec.endAll();
    expect(await isAlive(pid)).toBe(false);
    await running;
  });

  it('is ended once for all that ask at a time, and nobody hears of the end before it', async () => {
    const running = run({ command: 'setsid sh -c "echo \\$\\$ > pid; sleep 600"; true', timeout: 600 });
    const pid = await pidFile();
    const kill = jest.spyOn(process, 'kill');
    const ends = [exec.endAll(), exec.endAll()];
    expect(kill.mock.calls.filter(([, signal]) => signal === 'SIGTERM')).toHaveLength(1);
    kill.mockRestore();
    await Promise.race(ends);
    expect(await isAlive(pid)).toBe(false);
    await Promise.all([...ends, running]);
  });

  it('leaves the processes of other commands alone', async () => {
    const cancel = new AbortController();
    const other = run({ command: 'setsid sh -c "echo \\$\\$ > pid; sleep 600"; true', timeout: 600 }, cancel.signal);
    const pid = await pidFile();
    await run({ command: 'setsid -f sleep 600; sleep 0.1' });
    expect(await isAlive(pid)).toBe(true);
    cancel.abort();
    await other;
    expect(await isAlive(pid)).toBe(false);
  });

  it('tells what a command writes while it runs, in order and whole', async () => {
    const told: ToolOutput[] = [];
    const tell = (piece: ToolOutput): Promise<void> => {
      told.push(piece);
      return Promise.resolve();
    };
    const command = 'for n in 1 2 3; do echo "ä$n"; echo "e$n" >&2; until [ -e go$n ]; do sleep 0.01; done; done';
    const running = exec.run(ExecCliInput.parse({ command }), new AbortController().signal, tell);
    for (const n of [1, 2, 3]) {
      // The command goes on when both streams were told: nothing of it can have come from its result.
      await until(() => (told.filter(({ text }) => text.includes(`${n}\n`)).length === 2 ? true : undefined));
      await writeFile(join(root, 'jail', `go${n}`), '');
    }
    const result = await running;
    for (const stream of ['stdout', 'stderr'] as const) {
      const pieces = told.filter((piece) => piece.stream === stream);
      expect(pieces.map(({ text }) => text).join('')).toBe(result[stream]);
      expect(pieces.map(({ offset }) => offset)).toEqual(stream === 'stdout' ? [0, 4, 8] : [0, 3, 6]);
    }
  });

  it('tells what is left at the end, also of a command that was over at once', async () => {
    const told: ToolOutput[] = [];
    const tell = (piece: ToolOutput): Promise<void> => {
      told.push(piece);
      return Promise.resolve();
    };
    await exec.run(ExecCliInput.parse({ command: 'printf a; printf €' }), new AbortController().signal, tell);
    // One piece, or two where the shell had to wait between its two words.
    expect(told.map(({ text }) => text).join('')).toBe('a€');
    expect(told.map(({ stream, offset }) => [stream, offset])).toEqual(told.map((_, index) => ['stdout', index]));
  });

  it('does not tell the next piece before the last one is taken', async () => {
    const told: ToolOutput[] = [];
    const { promise: taken, resolve: take } = Promise.withResolvers<void>();
    const tell = (piece: ToolOutput): Promise<void> => {
      told.push(piece);
      return taken;
    };
    const command = 'echo first; until [ -e go ]; do echo more; echo more >> said; sleep 0.02; done';
    const running = exec.run(ExecCliInput.parse({ command }), new AbortController().signal, tell);
    await until(() => told[0]);
    // Long enough for several pieces, by the command's own clock.
    const said = async (): Promise<number> =>
      (await readFile(join(root, 'jail', 'said'), 'utf8').catch(() => '')).length;
    const enough = (await said()) + 'more\n'.length * 25;
    await until(async () => (await said()) >= enough || undefined);
    expect(told).toHaveLength(1);
    await writeFile(join(root, 'jail', 'go'), '');
    await running;
    // The last one is told all the same: nothing comes after it.
    expect(told).toHaveLength(2);
    take();
  });

  it('tells no more than its share of a flood, one piece at a time, and none of it after the end', async () => {
    const told: ToolOutput[] = [];
    let [open, openMax] = [0, 0];
    const tell = async (piece: ToolOutput): Promise<void> => {
      told.push(piece);
      openMax = Math.max(openMax, ++open);
      await new Promise(setImmediate);
      open--;
    };
    const command = 'head -c 20000000 /dev/zero | tr "\\0" x; echo; echo end';
    const result = await exec.run(ExecCliInput.parse({ command }), new AbortController().signal, tell);
    const count = told.length;
    expect(result.stdout_bytes).toBe(20_000_005);
    expect(openMax).toBe(1);
    expect(Math.max(...told.map(({ text }) => text.length))).toBeLessThanOrEqual(AIP_LIMITS.outputChunkCharsMax);
    const ends = told.map(({ offset, text }) => offset + text.length);
    expect(told.every(({ offset }, index) => offset >= (ends[index - 1] ?? 0))).toBe(true);
    await exec.endAll();
    expect(told).toHaveLength(count);
  });

  it.each([
    [{ command: '' }],
    [{ command: 'a\0b' }],
    [{ command: 'x'.repeat(200_000) }],
    [{ command: 'true', timeout: 0 }],
    [{ command: 'true', timeout: 1e9 }],
    [{ command: 'true', env: { 'A=B': 'x' } }],
    [{ command: 'true', unknown: 1 }],
    [{ command: ['true'] }],
  ])('refuses bad arguments %#', (input) => {
    expect(ExecCliInput.safeParse(input).success).toBe(false);
  });
});
