import {
  fieldsOf,
  type ActionResult,
  type ClientTelemetry,
  type Json,
  type RegisterMessage,
  type ToolInfo,
} from '#proto';
import { fitToolInfos, returnsOf, schemaOf } from './tool-info.js';

/** Who registered: with our revision and a journal, or a foreign client with neither. */
export interface RegisteredClient {
  readonly revision: number | null;
  readonly journalId: string | null;
  readonly telemetry: ClientTelemetry;
  /** It takes pieces of files as binary frames. */
  readonly takesBytes: boolean;
  /** False when a foreign client did not say which tools it has. */
  readonly toolsKnown: boolean;
}

const TEXT_MAX = 256;
const NAME_MAX = 64;
const CAPABILITIES_MAX = 64;
const TOOLS_MAX = 1_000;
const DESCRIPTION_MAX = 4_000;
const TOOL_NAME = /^[A-Za-z0-9_.:-]{1,128}$/u;
const EXTRA_CHARS_MAX = 2_000;
const EXTRA_KEYS = ['ip_address', 'platform_type', 'schema_version', 'custom_metadata'];

/** Reads REGISTER. What a foreign client says is shortened and dropped where it has the wrong shape: it is for people to read. */
export function clientOf({ metadata }: RegisterMessage, revisionMax: number): RegisteredClient {
  const ours = metadata?.orrery ?? undefined;
  if (ours !== undefined) {
    const { revision, journal_id: journalId, telemetry, binary_pieces: takesBytes } = ours;
    return {
      revision: Math.min(revision, revisionMax),
      journalId,
      takesBytes: takesBytes === true,
      telemetry: fitting(telemetry),
      toolsKnown: true,
    };
  }
  const info: Record<string, Json> = metadata?.system_info ?? {};
  return {
    revision: null,
    journalId: null,
    takesBytes: false,
    toolsKnown: false,
    telemetry: {
      platform: text(metadata?.platform ?? info['platform'], NAME_MAX) || 'unknown',
      osVersion: text(info['os_version'], TEXT_MAX),
      hostname: text(info['hostname'], TEXT_MAX),
      arch: text(info['arch'], NAME_MAX),
      cpuCount: whole(info['cpu_count']),
      memoryMb: whole(Number(info['memory_total_gb']) * 1024),
      capabilities: names(info['supported_features']).slice(0, CAPABILITIES_MAX),
      tools: [],
      metadata: extrasOf(info),
    },
  };
}

/** The answer of the meta tool `list_tools`; undefined when it is no list, so that nobody takes "unknown" for "none". */
export function toolsOf(result: ActionResult | undefined): ToolInfo[] | undefined {
  if (result?.status !== 'success' || !Array.isArray(result.result)) return undefined;
  const tools = result.result.flatMap((item): ToolInfo[] => {
    const tool = fieldsOf(item);
    const name = tool['tool_name'];
    if (typeof name !== 'string' || !TOOL_NAME.test(name)) return [];
    const readOnly = fieldsOf(tool['annotations'])['readOnlyHint'] === true;
    const description = text(tool['description'], DESCRIPTION_MAX);
    return [{ name, description, readOnly, ...schemaOf(tool['input_schema']), ...returnsOf(tool['output_schema']) }];
  });
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()].slice(0, TOOLS_MAX);
}

/**
 * What a device says of itself is written again with every renewal of its presence, and once for every connection into a
 * log that is kept: what is there only to be read goes first, and what no honest device has last.
 */
export function fitting(telemetry: ClientTelemetry): ClientTelemetry {
  const metadata = charsOf(telemetry.metadata) <= METADATA_CHARS_MAX ? telemetry.metadata : {};
  return { ...telemetry, metadata, tools: fittingTools(telemetry.tools) };
}

const METADATA_CHARS_MAX = 16 * 1024;
const TOOLS_CHARS_MAX = 128 * 1024;

function fittingTools(tools: readonly ToolInfo[]): ToolInfo[] {
  const shorter = fitToolInfos(tools, (fitted) => charsOf(fitted) <= TOOLS_CHARS_MAX);
  let chars = 0;
  return shorter.filter((tool) => (chars += charsOf(tool) + 1) < TOOLS_CHARS_MAX);
}

const charsOf = (value: Json | readonly ToolInfo[] | ToolInfo): number => JSON.stringify(value).length;

function extrasOf(info: Record<string, Json>): Record<string, Json> {
  const short = (value: Json): boolean => JSON.stringify(value).length <= EXTRA_CHARS_MAX;
  return Object.fromEntries(Object.entries(info).filter(([key, value]) => EXTRA_KEYS.includes(key) && short(value)));
}

const text = (value: unknown, charsMax: number): string => (typeof value === 'string' ? value.slice(0, charsMax) : '');

const whole = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.min(Math.round(value), 1e9) : 0;

const names = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.flatMap((item) => (typeof item === 'string' ? [item.slice(0, NAME_MAX)] : [])) : [];
