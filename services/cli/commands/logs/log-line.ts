import { fieldsOf, parseJson } from '#proto';

/** From what is told least to what matters most. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A line of a log as it was written, and what is known of it. */
export interface LogLine {
  readonly text: string;
  /** Milliseconds since the epoch; undefined for a line that does not say when. */
  readonly at: number | undefined;
  readonly level: LogLevel | undefined;
  /** What happened, with the fields that belong to it; the text itself where it is no JSON. */
  readonly message: string;
}

/** Said by every line, or shown otherwise. */
const KNOWN = new Set(['level', 'time', 'service', 'instance', 'msg', 'pid', 'hostname']);

/** nats-server: `[3151] 2026/11/23 12:00:01.123456 [INF] ready`. */
const OF_NATS = /^\[\d+\] (\d{4})\/(\d\d)\/(\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) \[([A-Z]{3})\] (.*)$/u;
const NATS_LEVELS: Readonly<Record<string, LogLevel>> = {
  TRC: 'trace',
  DBG: 'debug',
  INF: 'info',
  WRN: 'warn',
  ERR: 'error',
  FTL: 'fatal',
};
/** PostgreSQL: `2026-11-23 12:00:01.123 UTC [3151] LOG:  ready`. */
const OF_POSTGRES = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) (?:UTC|GMT) \[\d+\] (?:\S+ )?([A-Z]+\d?):  (.*)$/u;
const POSTGRES_LEVELS: Readonly<Record<string, LogLevel>> = {
  WARNING: 'warn',
  ERROR: 'error',
  FATAL: 'fatal',
  PANIC: 'fatal',
};

/** A line of one of our services, of nats-server or of PostgreSQL; any other is its own message. */
export function logLineOf(text: string): LogLine {
  const parsed = text.startsWith('{') ? parseJson(text) : undefined;
  if (parsed !== undefined) {
    const { level, time, msg, ...more } = fieldsOf(parsed);
    const fields = Object.entries(more).flatMap(([name, value]) =>
      KNOWN.has(name) ? [] : [`${name}=${shown(value)}`],
    );
    const message = [typeof msg === 'string' ? msg : '', ...fields].filter((part) => part !== '').join(' ');
    return { text, at: timeOf(time), level: LOG_LEVELS.find((one) => one === level), message };
  }
  const [, year, month, day, clock, mark = '', said] = OF_NATS.exec(text) ?? [];
  if (said !== undefined) {
    return { text, at: timeOf(`${year}-${month}-${day}T${clock}Z`), level: NATS_LEVELS[mark], message: said };
  }
  const [, date, time, word = '', told] = OF_POSTGRES.exec(text) ?? [];
  if (told === undefined) return { text, at: undefined, level: undefined, message: text };
  return { text, at: timeOf(`${date}T${time}Z`), level: POSTGRES_LEVELS[word] ?? 'info', message: told };
}

export interface LogWish {
  /** Milliseconds since the epoch: nothing before it. */
  readonly since?: number | undefined;
  readonly level?: LogLevel | undefined;
}

/** Whether lines are wanted, one after the other: one that says neither when nor how much it matters belongs to the one before it. */
export function logFilter({ since = 0, level = 'trace' }: LogWish): (line: LogLine) => boolean {
  const least = LOG_LEVELS.indexOf(level);
  let isWanted = since === 0 && least === 0;
  return ({ at, level: own }) => {
    if (at === undefined && own === undefined) return isWanted;
    isWanted = (at ?? since) >= since && (own === undefined || LOG_LEVELS.indexOf(own) >= least);
    return isWanted;
  };
}

function timeOf(said: unknown): number | undefined {
  const ms = typeof said === 'string' ? Date.parse(said) : said;
  return typeof ms === 'number' && Number.isFinite(ms) ? ms : undefined;
}

/** The stack of an error is for who reads the line as JSON. */
function shown(value: unknown): string {
  if (typeof value === 'string') return /^[^\s"=]+$/u.test(value) ? value : JSON.stringify(value);
  const { message } = fieldsOf(value);
  return JSON.stringify(typeof message === 'string' ? message : value);
}
