import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ExecCliInput } from './exec-cli.js';
import { ExecCli } from './exec-cli.runner.js';
import { ExecSettings } from './exec-settings.js';
import { clearOutputs } from '../output/output-spool.adapter.js';
import { until } from '../testing/until.js';

const NAME = 'a'.repeat(32);
const BYTES = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => (index * 7919) % 256));

let root: string;
let inputs: string;
let exec: ExecCli;
/** Called when the input of a command is open and the command has not begun. */
let whenOpened: () => void;
/** Of the pool that files are read, written and closed by. */
const THREADS = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4);

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'orrery-stdin-')));
  inputs = join(root, 'inputs');
  await mkdir(inputs);
  const spool = { dir: join(root, 'outputs'), bytesMax: 1_000 };
  await clearOutputs(spool);
  const settings = ExecSettings.parse({ jailDir: join(root, 'jail'), inputsDir: inputs, spool });
  whenOpened = () => undefined;
  exec = new ExecCli({ settings, env: process.env, now: () => (whenOpened(), 0) });
});
afterEach(() => rm(root, { recursive: true, force: true }));

const run = (command: string, stdinFile?: string) => {
  const caller = { signal: new AbortController().signal, tell: () => Promise.resolve(), isAgents: false, stdinFile };
  return exec.runWhole(ExecCliInput.parse({ command }), caller);
};

describe('a command that reads a file', () => {
  it('reads all of it, whatever bytes they are, and the file has lost its name by then', async () => {
    await writeFile(join(inputs, NAME), BYTES);
    const { result } = await run(`ls ${inputs} | wc -l; sha256sum`, NAME);
    expect(result.stdout).toBe(`0\n${createHash('sha256').update(BYTES).digest('hex')}  -\n`);
    expect(await readdir(inputs)).toEqual([]);
  });

  it('need not read it', async () => {
    await writeFile(join(inputs, NAME), BYTES);
    expect((await run('true', NAME)).result.exit_code).toBe(0);
  });

  it('is heard from the beginning, also when it is over before our end of the file is closed', async () => {
    await writeFile(join(inputs, NAME), BYTES);
    const pipe = join(root, 'pipe');
    execFileSync('mkfifo', [pipe]);
    // The input is open and the command not begun: from here on nothing that waits for a thread goes on, such as the closing of a file.
    whenOpened = () => void Array.from({ length: THREADS }, () => readFile(pipe));
    const running = run('echo $$ > pid; echo heard', NAME);
    const pidFile = join(root, 'jail', 'pid');
    const pid = await until(() =>
      existsSync(pidFile) ? readFileSync(pidFile, 'utf8').trim() || undefined : undefined,
    );
    await until(() => !existsSync(`/proc/${pid}`) || undefined);
    closeSync(openSync(pipe, 'r+'));
    expect((await running).result.stdout).toBe('heard\n');
  });

  it.each([NAME, '../jail/x', '', 'link'])('does not begin without it: %s', async (name) => {
    await symlink('/etc/hostname', join(inputs, 'link'));
    await expect(run('touch began', name)).rejects.toThrow(/There is no such input|is not there any more/u);
    expect(await readdir(join(root, 'jail'))).toEqual([]);
  });
});

it('bytes that are no characters are kept as bytes, and text is not', async () => {
  const noText = await run("printf '\\377\\000'; echo text >&2");
  expect(noText.files).toMatchObject({ stdout: { file: { bytes: 2 }, error: null } });
  expect(noText.files.stderr).toBeUndefined();
  expect((await run("printf '\\303\\244'")).files).toEqual({});
});
