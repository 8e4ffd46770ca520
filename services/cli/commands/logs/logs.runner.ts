import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { meantName } from '#proto';
import { visibleText } from '#libs/visible';
import { homeOf, isFile, type Home } from '../../home/index.js';
import { supervisorOf } from '../../processes/index.js';
import {
  badInput,
  cleanLine,
  EXIT,
  type ExitCode,
  paintFor,
  type Paint,
  type CliContext,
  exitCodeOfSignal,
  preciseMomentText,
} from '../../terminal/index.js';
import { logLines } from './log-file.adapter.js';
import { logFilter, logLineOf, type LogLevel, type LogLine } from './log-line.js';

export interface LogWords {
  readonly follow?: boolean;
  /** Milliseconds before now. */
  readonly since?: number;
  readonly lines?: number;
  readonly level?: LogLevel;
}

const LINES_USUAL = 100;

/** What a part of the embedded system has logged: the last lines, those since a while, and what comes. */
export async function logs(context: CliContext, service: string, words: LogWords): Promise<ExitCode> {
  const { env, json, terminal, now, signal } = context;
  const home = homeOf(env);
  const file = await logFileOf(home, service);
  const { since, level, lines = since === undefined ? LINES_USUAL : Number.MAX_SAFE_INTEGER, follow = false } = words;
  const isWanted = logFilter({ since: since === undefined ? undefined : now() - since, level });
  const paint = paintFor(terminal);
  const print = (line: LogLine): void => terminal.out(json ? jsonLine(line, service) : logText(line, paint));
  let last: LogLine[] | undefined = [];
  for await (const text of logLines(file, follow ? signal : undefined)) {
    if (text === null) {
      last?.forEach(print);
      last = undefined;
      continue;
    }
    const line = logLineOf(text);
    if (!isWanted(line)) continue;
    if (last === undefined) print(line);
    else last.push(line);
    if (last !== undefined && last.length > lines) last.shift();
  }
  return exitCodeOfSignal(signal) ?? EXIT.ok;
}

/** Whose log this is. Throws CliError with the names that there are. */
async function logFileOf(home: Home, service: string): Promise<string> {
  const own: Readonly<Record<string, string>> = {
    nats: join(home.nats, 'nats-server.log'),
    postgres: `${home.postgres}.log`,
  };
  const found = await readdir(home.logs).catch(() => []);
  const names = found.flatMap((name) => (name.endsWith('.log') ? [name.slice(0, -'.log'.length)] : []));
  for (const [name, file] of Object.entries(own)) if (await isFile(file)) names.push(name);
  if (names.includes(service)) return own[service] ?? home.logFile(service);
  if (names.length === 0) {
    throw badInput(
      `There are no logs in ${home.root}: no system was started there. In containers: docker compose logs -f ${cleanLine(service)}`,
    );
  }
  const meant = meantName(service, names);
  const mean = meant === undefined ? '' : ` Did you mean ${meant}?`;
  const running = (await supervisorOf(home)) === undefined ? ' (no system is running there now)' : '';
  throw badInput(
    `There is no log of "${cleanLine(service)}" in ${home.root}${running}; there is ${names.toSorted().join(', ')}.${mean}`,
  );
}

const COLOURS = { trace: 'dim', debug: 'dim', info: 'cyan', warn: 'yellow', error: 'red', fatal: 'red' } as const;
const LEVEL_WIDTH = 5;

/** `2026-11-23 12:00:01.123Z warn  a device is gone deviceId=web-1`. */
function logText({ at, level, message }: LogLine, paint: Paint): string {
  const when = at === undefined ? '' : `${preciseMomentText(at)} `;
  const word = level === undefined ? '' : `${paint(COLOURS[level], level.padEnd(LEVEL_WIDTH))} `;
  return `${when}${word}${cleanLine(message)}`;
}

/** As it was written where that was JSON. */
function jsonLine({ text, at, level, message }: LogLine, service: string): string {
  if (text.startsWith('{') && message !== text) return visibleText(text);
  const time = at === undefined ? {} : { time: new Date(at).toISOString() };
  return visibleText(JSON.stringify({ ...(level === undefined ? {} : { level }), ...time, service, msg: message }));
}
