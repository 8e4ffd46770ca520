import { pino, type Logger } from 'pino';
import type { SecretStore } from '../secrets/index.js';

/**
 * One JSON line per fact; written at once, so that the line before an end is never lost. A line with a secret in it, which
 * another program may have said to us, is written without.
 */
export function createDeviceLogger(level: string, secrets?: Pick<SecretStore, 'redactor'>): Logger {
  const formatters = { level: (label: string) => ({ level: label }) };
  const streamWrite = (line: string): string => secrets?.redactor?.text(line) ?? line;
  const hooks = secrets === undefined ? {} : { streamWrite };
  return pino({
    level,
    base: { service: 'device-client' },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters,
    hooks,
  });
}
