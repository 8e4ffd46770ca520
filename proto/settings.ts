import { z } from 'zod';
import { CommandClass, PolicyDecision } from './policy.js';
import { Sha256 } from './ids.js';
import { sameJson } from './same-json.js';

/*
 * What a service was started with and works by: to be looked at, never to be said this way. Nothing secret has a place in it: of an
 * endpoint only its host, of a key only whether there is one.
 */

/** A file of prompts as it was loaded; its text is asked for by its hash. */
export const LoadedPrompt = z.strictObject({ file: z.string(), sha256: Sha256, bytes: z.int().min(0) });
export type LoadedPrompt = z.infer<typeof LoadedPrompt>;

/** How a model is asked. */
export const ModelInUse = z.strictObject({
  /** `default`, an agent that has settings of its own, or `embedding`; `backup of` one of these. */
  of: z.string(),
  model: z.string(),
  /** Of its endpoint, with the port: a path could hold a secret. */
  host: z.string(),
  hasKey: z.boolean(),
  temperature: z.number().nullable(),
  maxTokens: z.int().nullable(),
  /** Of one try; null of a backup: as of what it stands in for. */
  timeoutMs: z.int().nullable(),
  retries: z.int().nullable(),
  /** Whether it may be shown pictures; null of a backup, as of what it stands in for, and of one that makes no texts. */
  seesPictures: z.boolean().nullable(),
});
export type ModelInUse = z.infer<typeof ModelInUse>;

/** In the order of the file. `match`: which commands, in words; all of it must hold. */
const Ruled = z.strictObject({ id: z.string(), match: z.string(), reason: z.string().optional() });

/** What one place says of the policy; what is said nowhere in it is absent. */
export const PolicyLayer = z.strictObject({
  /** Where it is written: `built in`, or the path of a file, and the entry in it that is for some devices. */
  from: z.string(),
  /** For these alone. */
  devices: z.strictObject({ ids: z.array(z.string()).optional(), tags: z.array(z.string()).optional() }).optional(),
  defaults: z.partialRecord(CommandClass, PolicyDecision),
  rules: z.array(Ruled.extend({ decision: PolicyDecision })),
  /** Never, whoever approves. */
  floor: z.array(Ruled),
  sensitivePaths: z.array(z.string()),
  writablePaths: z.array(z.string()).optional(),
  programDirectories: z.array(z.string()).optional(),
  /** A class, or the argument that is a line for a shell. */
  tools: z.record(z.string(), z.string()),
});
export type PolicyLayer = z.infer<typeof PolicyLayer>;

/** A policy by the places that say it: a later one counts before those above it, floors and sensitive paths add up. */
export const PolicyInUse = z.strictObject({ hash: Sha256, layers: z.array(PolicyLayer).min(1) });
export type PolicyInUse = z.infer<typeof PolicyInUse>;

/** What one replica works by. */
export const SettingsInUse = z.strictObject({
  instance: z.string(),
  /** Null: it judges no commands. */
  policy: PolicyInUse.nullable(),
  /** Empty where no model is configured: then none are loaded. */
  prompts: z.array(LoadedPrompt),
  models: z.array(ModelInUse),
  /** Whether pictures are shown to models at all: only some agents have any to show. */
  visual: z.boolean(),
  /** Models are not asked: what they answered once is read again. */
  replays: z.boolean(),
});
export type SettingsInUse = z.infer<typeof SettingsInUse>;

/** Replicas that work by the same. */
export interface Alike {
  /** Of the replicas. */
  readonly names: readonly string[];
  readonly settings: SettingsInUse;
}

/** Replicas that work by the same, together; in the order of their names. */
export function alike(replicas: readonly SettingsInUse[]): Alike[] {
  const groups: { names: string[]; settings: SettingsInUse }[] = [];
  for (const settings of replicas.toSorted((one, other) => one.instance.localeCompare(other.instance))) {
    const same = groups.find((group) => sameJson({ ...group.settings, instance: '' }, { ...settings, instance: '' }));
    if (same === undefined) groups.push({ names: [settings.instance], settings });
    else same.names.push(settings.instance);
  }
  return groups;
}
