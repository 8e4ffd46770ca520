import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { run } from './system.js';

it('the demo runs a request on two devices, verifies it, and ends with its id and the report', async () => {
  const { code, stdout, stderr } = await run(['demo']);
  expect(`${code} ${stderr}`).toMatch(/^0 /u);
  expect(stdout).toContain('ORRERY_MODEL');
  const last = stdout.trim().split('\n').slice(-4).join('\n');
  const runId = /\b(?<id>[0-9a-hjkmnp-tv-z]{26})\b/u.exec(last)?.groups?.['id'];
  const file = /(?<path>\/\S+\.md)/u.exec(last)?.groups?.['path'];
  expect(runId).toBeDefined();
  const report = await readFile(file ?? '', 'utf8');
  for (const part of [`\`${runId}\``, 'graph TD', '## Answer', 'fleet-health', 'web-1', 'db-1', 'SYS_INFO'])
    expect(report).toContain(part);
});
