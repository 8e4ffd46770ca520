import { readFileSync } from 'node:fs';
import { ClientMessage } from '#proto';
import type { Action, ActionResult, Json } from '#proto';

/** A recorded conversation of UFO's own programs, and in it one device's part. */
export interface TraceLine {
  readonly conn: string;
  readonly peer: string;
  readonly dir: 'c2s' | 's2c';
  readonly msg?: { readonly [key: string]: Json };
}

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  '<ts>': '2026-06-20T15:52:27.634845+00:00',
  '<cpu_count>': '2',
  '<memory_total_gb>': '23.5',
};

/** The lines with a device, per connection; what was normalised has values again, equal ones where they were equal. */
export function deviceConnections(trace: string, deviceId: string): TraceLine[][] {
  const file = new URL(`../../../proto/fixtures/aip/ufo/${trace}.jsonl`, import.meta.url);
  const text = readFileSync(file, 'utf8')
    .replaceAll(/<uuid:(\d+)>/g, (_, n: string) => `00000000-0000-4000-8000-${n.padStart(12, '0')}`)
    .replaceAll(/<(?:ts|cpu_count|memory_total_gb)>/g, (name) => PLACEHOLDERS[name] ?? name);
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as TraceLine)
    .filter(({ peer }) => peer === `device:${deviceId}`);
  return [...Map.groupBy(lines, ({ conn }) => conn).values()];
}

/** What the recorded device's tools answered, and which tools it had. */
export interface RecordedTools {
  readonly tools: Json[];
  readonly answers: { readonly tool: string; readonly parameters: Json; readonly answer: ActionResult }[];
}

const META_TOOL = 'list_tools';

export function recordedTools(connections: readonly TraceLine[][]): RecordedTools {
  const commands = new Map<unknown, Action[]>();
  const tools = new Map<Json, Json>();
  const answers: RecordedTools['answers'] = [];
  for (const { msg } of connections.flat()) {
    if (msg?.['type'] === 'command') commands.set(msg['response_id'], msg['actions'] as unknown as Action[]);
    if (msg?.['type'] !== 'command_results') continue;
    const results = ClientMessage.parse(msg);
    if (results.type !== 'command_results') continue;
    for (const [index, answer] of (results.action_results ?? []).entries()) {
      const action = commands.get(results.prev_response_id)?.[index];
      if (action === undefined) continue;
      const { tool_name: tool, parameters } = action;
      if (tool !== META_TOOL) answers.push({ tool, parameters: parameters ?? {}, answer });
      else for (const listed of answer.result as { tool_name: string }[]) tools.set(listed.tool_name, listed);
    }
  }
  return { tools: [...tools.values()], answers };
}
