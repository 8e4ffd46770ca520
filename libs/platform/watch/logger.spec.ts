import { describe, expect, it } from '@jest/globals';
import { createLogger, frameworkLogger } from './logger.js';

function logged(write: (logger: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  const logger = createLogger(
    { service: 'registry', instance: 'a', level: 'info' },
    { write: (line) => void lines.push(line) },
  );
  write(logger);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('createLogger', () => {
  it('writes one JSON object per line with service, instance and level by name', () =>
    expect(logged((logger) => logger.warn({ deviceId: 'web-1' }, 'suspect'))).toMatchObject([
      { level: 'warn', service: 'registry', instance: 'a', deviceId: 'web-1', msg: 'suspect' },
    ]));

  it.each([
    ['at the top', { token: 'geheim' }],
    ['one object deep', { answer: { token: 'geheim', deviceId: 'web-1' } }],
    ['in request headers', { req: { headers: { authorization: 'Bearer geheim', cookie: 'geheim' } } }],
    ['in a seed', { nats: { seed: 'geheim' } }],
    ['in a password', { config: { database: { password: 'geheim' } } }],
  ])('redacts secrets %s', (_where, fields) => {
    const [line] = logged((logger) => logger.info(fields, 'x'));
    expect(JSON.stringify(line)).not.toContain('geheim');
    expect(JSON.stringify(line)).toContain('[redacted]');
  });

  it('keeps the chatter of the framework out unless debugging', () =>
    expect(
      logged((logger) => {
        frameworkLogger(logger).info('module loaded');
        frameworkLogger(logger).warn('deprecated');
      }).map(({ msg }) => msg),
    ).toEqual(['deprecated']));
});
