import { DEFAULTS, DeviceWall, GpuInfo, LIMITS, usesScreen } from '#proto';
import type {
  AdminProfile,
  AgentProfile,
  ClientTelemetry,
  DeviceHold,
  Json,
  MeasuredMetrics,
  ServiceManifest,
  ToolInfo,
} from '#proto';
import { credentialKind, NOTHING_GIVEN, type Device, type GivenProfile } from '#libs/fleet';

/** A profile travels to every replica at every change: what a device says of itself may not make it large. */
const TOOLS_MAX = 256;
const TOOL_DESCRIPTION_CHARS_MAX = 400;
/** Of all tools of a device: a tool whose schema has no room any more is still there, with its description. */
const TOOL_SCHEMAS_CHARS_MAX = 32 * 1024;
const NAMES_MAX = 96;
const CLIENT_CHARS_MAX = 128;
const METADATA_MAX = 16;
const METADATA_CHARS_MAX = 128;
/** A list of them all is one message on the bus, with room for what is put around it. */
const LIST_BYTES_MAX = LIMITS.natsPayloadBytesMax - 64 * 1024;

/** Control characters, and those that turn the direction of text: they have no place in a name and fool terminals. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** One name per system, whatever its devices call it. */
const OS_NAMES: Readonly<Record<string, string>> = { win32: 'windows', darwin: 'macos' };

type MergedProfile = Pick<
  AgentProfile,
  | 'agent'
  | 'os'
  | 'arch'
  | 'hostname'
  | 'capabilities'
  | 'tags'
  | 'tools'
  | 'resources'
  | 'tasksMax'
  | 'given'
  | 'givenRevision'
  | 'gpus'
  | 'diskMb'
  | 'wall'
  | 'client'
  | 'metadata'
>;

/**
 * AgentProfile from its three sources (paper, section 5): the administrator wins, then the manifest of the kind of
 * device, then what the device says. A device may offer capabilities and tools; tags and limits are not its to give. `isForeign`:
 * its client keeps no journal.
 */
export function mergeProfile(
  admin: AdminProfile,
  manifest: ServiceManifest,
  telemetry: ClientTelemetry | null,
  { isForeign = false, given = NOTHING_GIVEN }: { readonly isForeign?: boolean; readonly given?: GivenProfile } = {},
): MergedProfile {
  const said = telemetry?.metadata ?? {};
  const [wall, client, metadata] = [wallOf(said), clientOf(said), wordsOf(said)];
  return {
    agent: printable(manifest.agent),
    os: osName(givenText(given, 'os') ?? admin.os ?? telemetry?.platform ?? ''),
    arch: printable(telemetry?.arch ?? ''),
    hostname: printable(telemetry?.hostname ?? ''),
    // The first sources fill the list, so that a device which claims everything cannot push out what was granted.
    capabilities: names([...admin.capabilities, ...manifest.capabilities, ...(telemetry?.capabilities ?? [])]),
    tags: names(admin.tags),
    tools: mergeTools(telemetry?.tools ?? []),
    resources: { cpuCount: telemetry?.cpuCount ?? 0, memoryMb: telemetry?.memoryMb ?? 0 },
    tasksMax: tasksMaxOf(admin.tasksMax ?? manifest.tasksMax, telemetry, isForeign),
    ...(given.revision > 0 && { given: { ...given.values }, givenRevision: given.revision }),
    ...hardwareOf(said),
    ...(wall && { wall }),
    ...(client !== undefined && { client }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** Two agents of one screen would each click on what the other has moved. */
function tasksMaxOf(granted: number | undefined, telemetry: ClientTelemetry | null, isForeign: boolean): number {
  if (telemetry?.tools.some(({ name }) => usesScreen(name)) === true) return DEFAULTS.screenTasksMax;
  return granted ?? (isForeign ? DEFAULTS.foreignTasksMax : DEFAULTS.deviceTasksMax);
}

/** The device as the scheduler and people see it. Its own hold says more than the one of the whole fleet. */
export function profileOf(
  device: Device,
  fleetHeld: DeviceHold | null,
  metrics: MeasuredMetrics | null = null,
): AgentProfile {
  const { deviceId, status, session, revision, enrolledAt, changedAt, admin, manifest, telemetry, revoked } = device;
  const held = device.held ?? fleetHeld ?? device.taken;
  const merged = mergeProfile(admin, manifest, telemetry, {
    isForeign: session?.journalId === null,
    given: device.given,
  });
  const identity = { revoked, credential: credentialKind(device) };
  const contest = device.contendedAt === null ? {} : { contendedAt: device.contendedAt };
  const screen = {
    ...(device.taken !== null && { taken: device.taken }),
    ...(device.handedBackAt !== null && { handedBackAt: device.handedBackAt }),
  };
  const seen = device.lastSeenAt === null ? {} : { lastSeenAt: device.lastSeenAt };
  return {
    deviceId,
    status,
    ...merged,
    held,
    ...screen,
    ...identity,
    ...contest,
    ...seen,
    metrics,
    session,
    revision,
    enrolledAt,
    changedAt,
  };
}

/** All of them fit into one message, whatever some devices say of themselves: with all their tools, or without any. */
export function listed(profiles: readonly AgentProfile[], bytesMax = LIST_BYTES_MAX): AgentProfile[] {
  // Descriptions and schemas of tools are in AGENT_PROFILES.
  const named = profiles.map((profile) => ({
    ...profile,
    tools: profile.tools.map(({ name, readOnly }) => ({ name, description: '', readOnly })),
  }));
  if (Buffer.byteLength(JSON.stringify(named)) <= bytesMax) return named;
  const short = named.map((profile) => ({ ...profile, tools: [], metadata: undefined }));
  if (Buffer.byteLength(JSON.stringify(short)) <= bytesMax) return short;
  return short.map((profile) => ({ ...profile, given: undefined, gpus: undefined }));
}

function givenText({ values }: GivenProfile, key: string): string | undefined {
  const value = values[key]?.value;
  return typeof value === 'string' ? value : undefined;
}

/** A name counts once, in its first meaning: a second tool of the same name could not be called anyway. */
function mergeTools(tools: readonly ToolInfo[]): ToolInfo[] {
  const byName = new Map<string, ToolInfo>();
  let room = TOOL_SCHEMAS_CHARS_MAX;
  for (const { name, description, readOnly, inputSchema, returns } of tools) {
    const clean = printable(name);
    if (clean === '' || byName.has(clean) || byName.size === TOOLS_MAX) continue;
    const chars = inputSchema === undefined ? Infinity : JSON.stringify(inputSchema).length;
    const hasRoom = chars <= room;
    if (hasRoom) room -= chars;
    const short = printable(description).slice(0, TOOL_DESCRIPTION_CHARS_MAX);
    byName.set(clean, {
      name: clean,
      description: short.toWellFormed(),
      readOnly,
      ...(inputSchema !== undefined && hasRoom && { inputSchema: printableFields(inputSchema) }),
      ...(returns !== undefined && { returns: printable(returns) }),
    });
  }
  return [...byName.values()];
}

/** A database takes no NUL, and no honest schema has a control character in a name. */
const printableFields = (fields: Readonly<Record<string, Json>>): Record<string, Json> =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [printable(key), printableJson(value)]));

function printableJson(value: Json): Json {
  if (typeof value === 'string') return printable(value);
  if (Array.isArray(value)) return value.map(printableJson);
  return value === null || typeof value !== 'object' ? value : printableFields(value);
}

/** In the words of our own client; whatever else stands there says nothing. */
function wallOf({ wall, wallViews, wallUser }: Readonly<Record<string, Json>>): DeviceWall | undefined {
  const user = wallUser === undefined ? {} : { runsAs: wallUser };
  return DeviceWall.safeParse(printableJson({ kind: wall ?? '', views: wallViews ?? [], ...user })).data;
}

const GPUS_MAX = 32;

/** What its client found of its machine, in the words of our own; a card that is said in others is none. */
function hardwareOf({ gpus, diskMb }: Readonly<Record<string, Json>>): Pick<AgentProfile, 'gpus' | 'diskMb'> {
  const cards = Array.isArray(gpus) ? gpus.slice(0, GPUS_MAX).flatMap((gpu) => cardOf(gpu) ?? []) : undefined;
  const disk = typeof diskMb === 'number' && Number.isSafeInteger(diskMb) && diskMb >= 0 ? diskMb : undefined;
  return { ...(cards !== undefined && { gpus: cards }), ...(disk !== undefined && { diskMb: disk }) };
}

const cardOf = (gpu: Json): GpuInfo | undefined => GpuInfo.safeParse(printableJson(gpu)).data;

function clientOf({ client }: Readonly<Record<string, Json>>): string | undefined {
  const said = typeof client === 'string' ? printable(client).slice(0, CLIENT_CHARS_MAX).toWellFormed() : '';
  return said === '' ? undefined : said;
}

/** Fields of the profile by themselves. */
const TOLD_APART: readonly string[] = ['client', 'wall', 'wallViews', 'wallUser', 'gpus', 'diskMb'];

function wordsOf(metadata: Readonly<Record<string, Json>>): Record<string, string> | undefined {
  const words = Object.entries(metadata).flatMap(([key, value]): [string, string][] => {
    if (TOLD_APART.includes(key) || value === null || typeof value === 'object') return [];
    return [[printable(key), printable(String(value)).slice(0, METADATA_CHARS_MAX).toWellFormed()]];
  });
  return words.length === 0 ? undefined : Object.fromEntries(words.slice(0, METADATA_MAX));
}

function names(texts: readonly string[]): string[] {
  return [...new Set(texts.map(printable))].filter((name) => name !== '').slice(0, NAMES_MAX);
}

function osName(platform: string): string {
  const name = printable(platform).toLowerCase();
  return name === '' ? 'unknown' : (OS_NAMES[name] ?? name);
}

function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, '').trim();
}
