import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ROOT } from './metrics-page.js';

/* What Prometheus itself says of the rules and of the configurations that come with them: opt-in, because promtool may have to be fetched. */

let promtool: string;
let directory: string;
beforeAll(() => {
  const tool = ['tools/debian-program.sh', 'promtool'];
  promtool = execFileSync('sh', tool, { cwd: ROOT, encoding: 'utf8' }).trim();
  directory = mkdtempSync(join(tmpdir(), 'orrery-rules-'));
  cpSync(join(ROOT, 'deploy/monitoring'), directory, { recursive: true });
  writeFileSync(join(directory, 'metrics-token'), 'token');
  writeFileSync(join(directory, 'targets.json'), '[{"targets": ["127.0.0.1:4711"]}]');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it.each([
  ['check rules rules.yml', /SUCCESS: \d+ rules found/u],
  ['test rules rules.test.yml', /SUCCESS/u],
  ['check config prometheus.compose.yml', /SUCCESS/u],
  ['check config prometheus.up.yml', /SUCCESS/u],
])('promtool %s', (words, said) => {
  const { status, stdout, stderr } = spawnSync(promtool, words.split(' '), { cwd: directory, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: expect.stringMatching(said), stderr: '' });
});
