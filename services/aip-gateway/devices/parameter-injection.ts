import { z } from 'zod';
import { DeviceId, Json, isObject, type CommandCall, type CommandOutcome, type ToolInfo } from '#proto';

/**
 * Parameters that the tools of a foreign device want and nobody who plans may know: UFO's Linux tools take the key of their
 * server as an ordinary argument. By device and tool; a value here wins over one that the command brings.
 */
const ToolName = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'a tool name must be 1 to 128 letters, digits or _ . : -');
const ParameterName = z.string().min(1).max(128);
export const InjectedParameters = z.record(DeviceId, z.record(ToolName, z.record(ParameterName, Json)), {
  error: 'must map device ids to tools, and tools to parameters',
});
export type InjectedParameters = z.infer<typeof InjectedParameters>;

/** For foreign clients only: ours are asked for nothing that a command does not say. */
export interface ParameterInjection {
  /** Raised whenever what is injected changes. */
  readonly version: number;
  /** The tools as those see them who plan: what is injected is no argument of theirs. */
  shown(deviceId: DeviceId, tools: readonly ToolInfo[]): ToolInfo[];
  /** The command as it goes into the COMMAND frame, and nowhere else. */
  injected(deviceId: DeviceId, command: CommandCall): CommandCall;
  /** What a device says, without what was injected: tools repeat their arguments in errors. */
  masked(deviceId: DeviceId, outcome: CommandOutcome): CommandOutcome;
  /** The same for a text, before it is written down. */
  maskedText(deviceId: DeviceId, text: string): string;
  /** What is masked. */
  secretsOf(deviceId: DeviceId): readonly string[];
}

export const NO_INJECTION: ParameterInjection = {
  version: 0,
  shown: (_, tools) => [...tools],
  injected: (_, command) => command,
  masked: (_, outcome) => outcome,
  maskedText: (_, text) => text,
  secretsOf: () => [],
};

const MASK = '[injected]';
/** Shorter ones stand in too many texts by chance, and are no secrets. */
const MASKED_CHARS_MIN = 6;

export function parameterInjection(parameters: InjectedParameters, version = 1): ParameterInjection {
  const byDevice = new Map(Object.entries(parameters));
  const secrets = new Map([...byDevice].map(([deviceId, tools]) => [deviceId, secretsIn(tools)]));
  return {
    version,
    shown: (deviceId, tools) => {
      const injected = new Map(Object.entries(byDevice.get(deviceId) ?? {}));
      return tools.map((tool) => withoutArguments(tool, Object.keys(injected.get(tool.name) ?? {})));
    },
    injected: (deviceId, command) => {
      const tools = new Map(Object.entries(byDevice.get(deviceId) ?? {}));
      const more = tools.get(command.tool);
      return more === undefined ? command : { ...command, arguments: { ...command.arguments, ...more } };
    },
    masked: (deviceId, outcome) => {
      const texts = secrets.get(deviceId) ?? [];
      if (texts.length === 0) return outcome;
      const { result, error } = outcome;
      const safeError = error === null ? null : { ...error, message: maskText(error.message, texts) };
      return { ...outcome, result: maskJson(result, texts), error: safeError };
    },
    maskedText: (deviceId, text) => maskText(text, secrets.get(deviceId) ?? []),
    secretsOf: (deviceId) => secrets.get(deviceId) ?? [],
  };
}

function withoutArguments(tool: ToolInfo, names: readonly string[]): ToolInfo {
  const { inputSchema } = tool;
  if (names.length === 0 || inputSchema === undefined) return tool;
  const { properties, required, ...rest } = inputSchema;
  const isOurs = (name: Json): boolean => typeof name === 'string' && names.includes(name);
  return {
    ...tool,
    inputSchema: {
      ...rest,
      ...(isObject(properties) && {
        properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !isOurs(name))),
      }),
      ...(Array.isArray(required) && { required: required.filter((name) => !isOurs(name)) }),
    },
  };
}

/** The longest first: one may be a part of another. */
function secretsIn(value: Json): string[] {
  const texts = textsIn(value).filter((text) => text.length >= MASKED_CHARS_MIN);
  return [...new Set(texts)].toSorted((one, other) => other.length - one.length);
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function maskJson(value: Json, secrets: readonly string[]): Json {
  if (typeof value === 'string') return maskText(value, secrets);
  if (Array.isArray(value)) return value.map((item) => maskJson(item, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [maskText(key, secrets), maskJson(item, secrets)]),
  );
}

const maskText = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);
