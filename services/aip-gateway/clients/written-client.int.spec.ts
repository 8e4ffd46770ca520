import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { TestBench } from '../testing/test-bench.adapter.js';

const ROOT = join(import.meta.dirname, '../../..');
let bench: TestBench;
let directory: string;
beforeAll(async () => {
  bench = await TestBench.start();
  directory = await mkdtemp(join(tmpdir(), 'orrery-test-client-'));
});
afterAll(async () => {
  await bench.clear();
  await bench.stop();
  await rm(directory, { recursive: true, force: true });
});

it('the client of docs/aip.md, as it stands there, runs a command', async () => {
  const page = await readFile(join(ROOT, 'docs/aip.md'), 'utf8');
  const [, program] = /```js\n([\s\S]*?)```/u.exec(page) ?? [];
  await writeFile(join(directory, 'client.mjs'), program ?? 'throw new Error("no program")');
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  const { url } = await bench.gateway();
  const env = { ...process.env, AIP_URL: url, AIP_TOKEN: 'token-written' };
  const client = execFile(process.execPath, [join(directory, 'client.mjs')], { env });
  try {
    const sessionId = await bench.sessionOf('written');
    const presence = await bench.presenceOf('written');
    const answer = await bench.ask({
      kind: 'run',
      commandId: 'r.t.1.0.0',
      attempt: { runId: 'r', taskId: 't', attempt: 1 },
      deviceId: 'written',
      sessionId,
      journalId: presence?.journalId ?? null,
      command: { tool: 'ADD', arguments: { a: 1, b: 2 } },
      priority: 0,
      notAfter: '2099-01-01T00:00:00.000Z',
    });
    expect(answer).toMatchObject({ state: 'finished', outcome: { state: 'COMPLETED', result: 3 } });
  } finally {
    client.kill();
  }
});
