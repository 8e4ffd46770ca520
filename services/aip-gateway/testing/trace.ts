import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ActionResult, Json } from '#proto';

/* Conversations of UFO's own programs, as they were recorded: proto/fixtures/aip/ufo. */

export interface Frame {
  readonly type: string;
  readonly [field: string]: Json;
}

export interface TraceLine {
  /** From 1, as in the file. */
  readonly line: number;
  readonly conn: string;
  /** `device` or `constellation`, with the client's name; null when it said none. */
  readonly role: string | null;
  readonly id: string | null;
  readonly dir: 'c2s' | 's2c';
  /** A message, a text that is none, or the end of the connection. */
  readonly what: { readonly frame: Frame } | { readonly text: string } | { readonly close: number };
}

/** What its tools answered to a command: null when the device never did. */
export interface Exchange {
  readonly sessionId: Json;
  readonly tool: string;
  readonly parameters: Record<string, Json>;
  readonly result: ActionResult | null;
}

const FIXTURES = join(import.meta.dirname, '../../../proto/fixtures/aip/ufo');

export function loadTrace(name: string): TraceLine[] {
  const lines = readFileSync(join(FIXTURES, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((text, index) => lineOf(index + 1, filled(JSON.parse(text) as Json) as unknown as Recorded));
}

/** The commands of a device's connection with what became of them, one action at a time. */
export function exchangesOf(trace: readonly TraceLine[], conn: string): Exchange[] {
  const frames = trace
    .filter((line) => line.conn === conn)
    .flatMap(({ what }) => ('frame' in what ? [what.frame] : []));
  const answers = frames.filter(({ type }) => type === 'command_results');
  return frames
    .filter(({ type }) => type === 'command')
    .flatMap((command) => {
      const answer = answers.find((given) => given['prev_response_id'] === command['response_id']);
      const results = (answer?.['action_results'] ?? []) as unknown as ActionResult[];
      const actions = command['actions'] as unknown as { tool_name: string; parameters: Record<string, Json> }[];
      return actions.map(({ tool_name: tool, parameters }, index) => {
        return { sessionId: command['session_id'] ?? null, tool, parameters, result: results[index] ?? null };
      });
    });
}

/** What UFO's device client says when it is asked for its tools. */
export const toolsOfUfo = (): Exchange[] =>
  exchangesOf(loadTrace('02-task-two-commands'), 'c1').filter(({ tool }) => tool === 'list_tools');

interface Recorded {
  readonly conn: string;
  readonly peer: string | null;
  readonly dir: 'c2s' | 's2c';
  readonly msg?: Frame | string;
  readonly close?: number;
}

function lineOf(line: number, { conn, peer, dir, msg, close }: Recorded): TraceLine {
  const [, role = null, id = null] = /^([a-z]+):(.*)$/u.exec(peer ?? '') ?? [];
  const what = close !== undefined ? { close } : typeof msg === 'string' ? { text: msg } : { frame: msg as Frame };
  return { line, conn, role, id, dir, what };
}

/** What the recordings leave out, because it is of that machine and that day; `<repeat:n:text>` is n times that text. */
const VALUES: Readonly<Record<string, Json>> = {
  '<ts>': '2026-11-20T15:40:40.489395+00:00',
  '<os_version>': '#1 SMP PREEMPT_DYNAMIC',
  '<cpu_count>': 2,
  '<memory_total_gb>': 23.54,
  '<hostname>': 'vm',
  '<ip>': '192.0.2.2',
  '<description>': 'text',
};

function filled(value: Json): Json {
  if (typeof value === 'string') {
    const known = VALUES[value];
    if (known !== undefined) return known;
    return value
      .replace(/<uuid:(\d+)>/gu, (_, number: string) => `00000000-0000-4000-8000-${number.padStart(12, '0')}`)
      .replace('<n>', '1795189994.0033')
      .replace(/<repeat:(\d+):([^>]+)>/u, (_, times: string, text: string) => text.repeat(Number(times)));
  }
  if (Array.isArray(value)) return value.map(filled);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item)]));
}
