import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ToolOutput } from '#libs/mcp';
import { ExecCliInput } from './exec-cli.js';
import { ExecCli, type ExecCliOptions } from './exec-cli.runner.js';
import { ExecSettings } from './exec-settings.js';
import { clearOutputs } from '../output/output-spool.adapter.js';
import { Redactor } from '../secrets/redactor.js';

const VALUE = 'canary-4711-of-the-database';
const WITH = { env: { S: { secret: 'key' } } };

let root: string;
let told: ToolOutput[];
beforeEach(async () => {
  told = [];
  root = await realpath(await mkdtemp(join(tmpdir(), 'orrery-exec-secrets-')));
  await clearOutputs({ dir: join(root, 'outputs') });
});
afterEach(() => rm(root, { recursive: true, force: true }));

const store = (redactor?: Redactor): ExecCliOptions['secrets'] => ({
  refresh: () => Promise.resolve(redactor),
  valueOf: (name) => (name === 'key' ? VALUE : undefined),
});

function run(command: string, secrets: ExecCliOptions['secrets'], more: object = WITH) {
  const spool = { dir: join(root, 'outputs'), bytesMax: 8 * 1024 * 1024 };
  const settings = ExecSettings.parse({ jailDir: join(root, 'jail'), spool });
  const exec = new ExecCli({ settings, env: process.env, now: () => 0, secrets });
  const tell = (piece: ToolOutput): Promise<void> => Promise.resolve(void told.push(piece));
  const caller = { signal: new AbortController().signal, tell, isAgents: true };
  return exec.runWhole(ExecCliInput.parse({ command, ...more }), caller);
}

describe('a command with a secret', () => {
  it('writes an output that is kept whole without it', async () => {
    const { result, files } = await run('yes "<$S>" | head -n 100000', store(new Redactor([['key', VALUE]])));
    const lines = 100_000 * '<[secret:key]>\n'.length;
    expect(result.stdout_bytes).toBe(lines);
    const whole = await readFile(join(root, 'outputs', files.stdout?.file?.name ?? ''), 'utf8');
    expect(whole === '<[secret:key]>\n'.repeat(100_000)).toBe(true);
  });

  it('tells without it what it writes, also when it writes it letter by letter, and says how much that is', async () => {
    const { result } = await run(
      'printf "%s" "$S" | sed "s/./&\\n/g" | while read -r c; do printf %s "$c"; done; printf "%s" "${S%?}"',
      store(new Redactor([['key', VALUE]])),
    );
    expect(result.stdout).toBe(`[secret:key]${VALUE.slice(0, -1)}`);
    expect(told.map(({ text }) => text).join('')).toBe(result.stdout);
    expect(result.stdout_bytes).toBe(result.stdout.length);
  });

  it('has it in its environment and in no arguments', async () => {
    // Nothing is replaced here: what is not in the output is not there.
    const seen = 'for p in /proc/[0-9]*; do tr "\\0" " " < $p/cmdline; done 2>/dev/null; printf "%s" "$S" | wc -c';
    const { result } = await run(seen, store());
    expect(result.stdout).toContain(`${VALUE.length}`);
    expect(result.stdout).not.toContain(VALUE);
  });

  it('gets it on its standard input', async () => {
    const { result } = await run('wc -c', store(), { stdin: { secret: 'key' } });
    expect(result.stdout.trim()).toBe(String(VALUE.length));
  });

  it('does not run when it is gone', async () => {
    const { result: _, ...none } = await run('true', store());
    expect(none).toEqual({ files: {} });
    await expect(run('touch ran', store(), { env: { S: { secret: 'other' } } })).rejects.toThrow(
      'This device has no secret "other".',
    );
    await expect(run('touch ran', undefined)).rejects.toThrow('This device has no secret "key".');
    expect((await run('ls', undefined, {})).result.stdout).toBe('');
  });
});
