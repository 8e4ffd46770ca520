import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readConsoleConfig } from './console.config.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-console-'));
afterAll(() => rmSync(folder, { recursive: true }));

function withToken(text: string): { ORRERY_CONSOLE_TOKEN_FILE: string } {
  const file = join(folder, 'token');
  writeFileSync(file, text);
  return { ORRERY_CONSOLE_TOKEN_FILE: file };
}

describe('readConsoleConfig', () => {
  it('reads the hash, the port and further hosts', () => {
    const env = {
      ...withToken(`${'aB'.repeat(32)}\n`),
      ORRERY_CONSOLE_HOSTS: 'A.example, b.example,',
      ORRERY_CONSOLE_PORT: '0',
    };
    const config = readConsoleConfig(env);
    expect([config.port, config.hosts, config.tokenHash]).toEqual([0, ['a.example', 'b.example'], 'ab'.repeat(32)]);
    expect(readConsoleConfig(withToken('0'.repeat(64))).port).toBe(8080);
  });

  it.each(['', 'the-token-itself', 'ab'.repeat(31), `${'ab'.repeat(32)} x`])('refuses a file that holds %j', (text) =>
    expect(() => readConsoleConfig(withToken(text))).toThrow('must hold a SHA-256 in hex'),
  );

  it('refuses to run without a hash, and never shows what it read', () => {
    expect(() => readConsoleConfig({})).toThrow('ORRERY_CONSOLE_TOKEN_FILE');
    expect(() => readConsoleConfig({ ORRERY_CONSOLE_TOKEN_FILE: '/does/not/exist' })).toThrow('cannot be read');
    expect(() => readConsoleConfig(withToken('s3cret'))).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('s3cret') }),
    );
  });
});
