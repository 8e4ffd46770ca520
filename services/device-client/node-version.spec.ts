import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { NODE_MIN, nodeComplaint } from './node-version.js';

const ROOT = join(import.meta.dirname, '../..');

describe('the Node that a device needs', () => {
  it('is the one of the package', () => {
    const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { engines: { node: string } };
    expect(engines.node).toBe(`>=${NODE_MIN}`);
  });

  it.each(['22.22.0', '22.30.1', '24.0.0', '100.1.0'])('is %s', (version) => expect(nodeComplaint(version)).toBeNull());

  it.each(['12.22.9', '20.20.2', '22.9.0', '22.21.9'])('is not %s, and both are named', (version) => {
    const complaint = nodeComplaint(version);
    expect(complaint).toContain(`needs Node ${NODE_MIN} or newer`);
    expect(complaint).toContain(`this is Node ${version}`);
  });
});
