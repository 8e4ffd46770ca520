import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ConfigError, envChoice, envFlag, envInt, envUrl, parseConfig } from './config.js';
import { ServiceConfig } from './service-config.js';

const Schema = z.object({
  ORRERY_PORT: envInt({ min: 1, max: 65_535 }).default(80),
  ORRERY_URL: envUrl('postgres:', 'postgresql:'),
  ORRERY_MODE: envChoice(['fast', 'safe']).optional(),
  ORRERY_FLAG: envFlag.default(false),
});
const url = 'postgres://user:geheim@127.0.0.1/db';
const refusal = (environment: Record<string, string>): string => {
  try {
    return `accepted: ${JSON.stringify(parseConfig(Schema, environment))}`;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
};

describe('parseConfig', () => {
  it('reads numbers, choices and flags', () =>
    expect(
      parseConfig(Schema, { ORRERY_URL: url, ORRERY_PORT: '8080', ORRERY_MODE: 'safe', ORRERY_FLAG: '1', OTHER: 'x' }),
    ).toEqual({ ORRERY_URL: url, ORRERY_PORT: 8080, ORRERY_MODE: 'safe', ORRERY_FLAG: true }));

  it('takes an empty variable as absent', () =>
    expect(parseConfig(Schema, { ORRERY_URL: url, ORRERY_PORT: '' })).toMatchObject({ ORRERY_PORT: 80 }));

  it.each(['0', '65536', '8e3', '80 ', '-1', '0x50', '99999999999999999999'])('refuses the port "%s"', (text) =>
    expect(refusal({ ORRERY_URL: url, ORRERY_PORT: text })).toBe('ORRERY_PORT must be a whole number from 1 to 65535.'),
  );

  it('names a missing variable and what would be valid', () =>
    expect(refusal({})).toBe('ORRERY_URL is not set; it must be a URL that starts with postgres:// or postgresql://.'));

  it('says all that is wrong at once', () =>
    expect(refusal({ ORRERY_URL: 'mysql://x', ORRERY_MODE: 'slow', ORRERY_FLAG: 'yes' })).toBe(
      'ORRERY_URL must be a URL that starts with postgres:// or postgresql://. ORRERY_MODE must be one of fast, safe. ORRERY_FLAG must be 1 or 0.',
    ));

  it('never shows a value, which may hold a password', () =>
    expect(refusal({ ORRERY_URL: 'http://user:geheim@host' })).not.toContain('geheim'));
});

describe('ServiceConfig', () => {
  it('binds to loopback on any port by default', () =>
    expect(parseConfig(ServiceConfig, {})).toMatchObject({ bind: '127.0.0.1', healthPort: 0, logLevel: 'info' }));

  it('keeps one instance name per process', () =>
    expect(parseConfig(ServiceConfig, {}).instance).toBe(parseConfig(ServiceConfig, {}).instance));

  it('refuses an instance name that could not be a key', () =>
    expect(() => parseConfig(ServiceConfig, { ORRERY_INSTANCE: 'a.b' })).toThrow(/ORRERY_INSTANCE must be 1 to 64/u));
});
