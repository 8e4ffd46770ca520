import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import type { ServiceConfig } from '../config/index.js';

/** Fields that may hold a secret, wherever a log line has them: at the top and up to two objects deep. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'seed', 'token', 'secret'] as const;
const REDACTED_PATHS = [
  ...SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
  '*.*["set-cookie"]',
  '*.*["x-orrery-csrf"]',
];

export interface LoggerIdentity {
  readonly service: string;
  readonly instance: string;
  readonly level: ServiceConfig['logLevel'];
}

/** One JSON line per fact on standard output. Writes are synchronous, so the line before an exit is never lost. */
export function createLogger(identity: LoggerIdentity, destination?: DestinationStream): Logger {
  const { service, instance, level } = identity;
  const options: LoggerOptions = {
    level,
    base: { service, instance },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** The framework tells about every module it loads: shown from `debug` on only. */
export function frameworkLogger(logger: Logger): Logger {
  const chatty = logger.isLevelEnabled('debug');
  return logger.child({}, { level: chatty || logger.level === 'silent' ? logger.level : 'warn' });
}
