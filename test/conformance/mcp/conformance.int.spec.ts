import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startRig, type Rig } from '../../mcp/rig.js';
import { startAuthorizingProxy, type AuthorizingProxy } from './authorizing-proxy.js';
import { APPLICABLE, NOT_APPLICABLE } from './scenarios.js';

const PACKAGE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json');
const SUITE = join(dirname(PACKAGE), 'dist/index.js');
const SUMMARY = /^[✓✗] ([a-z0-9-]+): (\d+) passed, (\d+) failed/gmu;

/** It ends by itself, much sooner. */
const SUITE_MS_MAX = 240_000;

interface Checks {
  readonly passed: number;
  readonly failed: number;
}

describe('the public suite of the protocol, against our endpoint', () => {
  let rig: Rig;
  let proxy: AuthorizingProxy;
  let directory: string;
  let results: ReadonlyMap<string, Checks>;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-mcp-conformance-'));
    rig = await startRig();
    const runId = await rig.submit('conformance');
    proxy = await startAuthorizingProxy(new URL(rig.url(runId)), rig.token(runId));
    const said = await runSuite(['server', '--url', proxy.url, '--suite', 'all'], directory);
    results = new Map(
      Array.from(said.matchAll(SUMMARY), ([, scenario = '', passed, failed]) => [
        scenario,
        { passed: Number(passed), failed: Number(failed) },
      ]),
    );
  }, 2 * SUITE_MS_MAX);

  afterAll(async () => {
    await proxy.stop();
    await rig.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it.each(APPLICABLE)('%s', (scenario) => {
    const { passed, failed } = results.get(scenario) ?? { passed: 0, failed: 0 };
    expect(failed).toBe(0);
    expect(passed).toBeGreaterThan(0);
  });

  it('has no scenario that nobody has looked at', () => {
    expect([...results.keys()].sort()).toEqual([...APPLICABLE, ...Object.keys(NOT_APPLICABLE)].sort());
  });

  it('says nothing good of those that do not apply: else they do', () => {
    const good = Object.keys(NOT_APPLICABLE).filter((scenario) => (results.get(scenario)?.passed ?? 0) > 0);
    expect(good).toEqual([]);
  });
});

/** What it prints; its exit code counts those that do not apply. */
function runSuite(words: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SUITE, ...words], { cwd, timeout: SUITE_MS_MAX }, (_, stdout) => resolve(stdout));
  });
}
