import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { nodeComplaint } from './node-version.js';

const ROOT = join(import.meta.dirname, '../..');

/** A Node of this machine that is too old; undefined where there is none. */
function oldNode(): string | undefined {
  const { stdout } = spawnSync('which', ['-a', 'node'], { encoding: 'utf8' });
  return stdout.split('\n').find((path) => {
    if (path === '') return false;
    return nodeComplaint(execFileSync(path, ['--version'], { encoding: 'utf8' }).trim().slice(1)) !== null;
  });
}

describe('orrery-device on a Node that is too old', () => {
  it('says in one sentence which one it needs, before anything that this one cannot run', () => {
    const node = oldNode();
    if (node === undefined) {
      process.stdout.write('skipped: there is no old Node on this machine\n');
      return;
    }
    const main = join(ROOT, 'dist/services/device-client/main.js');
    const said = spawnSync(node, [main, 'join', '--url', 'ws://127.0.0.1:9'], { encoding: 'utf8' });
    expect(said.stderr).toMatch(/^orrery-device needs Node 22\.22 or newer, and this is Node \d+\.\d+\.\d+: .*\n$/u);
    expect(said).toMatchObject({ status: 4, stdout: '' });
  });
});
