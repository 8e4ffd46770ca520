import { pino, type Logger } from 'pino';

/** One JSON line per fact; written at once, so that the line before an end is never lost. */
export function createLogger(level: string): Logger {
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: { service: 'device-client' }, timestamp: pino.stdTimeFunctions.isoTime, formatters });
}
