import { z } from 'zod';
import { Actor } from './actors.js';
import { Instant, Json } from './ids.js';
import { LIMITS } from './limits.js';
import { isObject } from './json.js';
import { meantName } from './similar.js';

/** What a value of a profile may be: one type where Orrery itself knows the name, and any small JSON elsewhere. */
export type ProfileType = 'text' | 'number' | 'count' | 'texts';

interface KnownKey {
  readonly type: ProfileType;
  /** In the words of tables, help texts and prompts. */
  readonly about: string;
}

/** Names that mean the same on every device. What ends with `.*` is a group, whose members have names of their own. */
export const PROFILE_KEYS = {
  os: { type: 'text', about: 'the system: linux, macos, windows' },
  arch: { type: 'text', about: 'the processor: x64, arm64' },
  hostname: { type: 'text', about: 'the name that the machine has itself' },
  agent: { type: 'text', about: 'the kind of agent that does its tasks in words' },
  'cpu.count': { type: 'count', about: 'processors' },
  'memory.gb': { type: 'number', about: 'memory in GiB, in whole ones where the device says it' },
  'disk.gb': { type: 'number', about: 'size in GiB of the disk that has its data' },
  'disk.free_gb': { type: 'number', about: 'what is free of that now' },
  'gpu.count': { type: 'count', about: 'graphics cards' },
  'gpu.name': { type: 'text', about: 'of the card with the most memory' },
  'gpu.vendor': { type: 'text', about: 'nvidia or amd, of the same card' },
  'gpu.memory_gb': { type: 'number', about: 'memory in GiB of the same card' },
  'gpu.memory_total_gb': { type: 'number', about: 'of all cards together' },
  roles: { type: 'texts', about: 'what it is there for' },
  tags: { type: 'texts', about: 'as for the selector `tags`' },
  capabilities: { type: 'texts', about: 'as for the selector `capabilities`' },
  'paths.*': { type: 'text', about: 'named places: paths.logs, paths.data' },
  'addresses.*': { type: 'text', about: 'under which it is reached: addresses.ip, addresses.host' },
  'preferences.*': { type: 'text', about: 'what somebody wants done there, and how' },
} as const satisfies Readonly<Record<string, KnownKey>>;

/** First parts of names that have others behind them, and stand for no value themselves. */
export const PROFILE_GROUPS: readonly string[] = [
  ...new Set(Object.keys(PROFILE_KEYS).flatMap((key) => (key.includes('.') ? [key.split('.', 1)[0] ?? ''] : []))),
];

/** What is said elsewhere, and where. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  tags: 'tags are given with: orrery devices enroll --id <id> --tags <a,b>',
  capabilities: 'capabilities are given with: orrery devices enroll --id <id> --capabilities <a,b>',
  agent: 'the kind of agent is given with: orrery devices enroll --id <id> --agent <name>',
};

const PREFERENCES = 'preferences.';

/** The type that values of this name have; undefined where that is free. */
export function typeOfKey(key: string): ProfileType | undefined {
  const known: Readonly<Record<string, KnownKey>> = PROFILE_KEYS;
  if (Object.hasOwn(known, key)) return known[key]?.type;
  const group = `${key.split('.', 1)[0] ?? ''}.*`;
  // What people prefer may be a number as well.
  return key.includes('.') && !key.startsWith(PREFERENCES) && Object.hasOwn(known, group)
    ? known[group]?.type
    : undefined;
}

const NAME = '[A-Za-z][A-Za-z0-9_]{0,62}';
const KEY = new RegExp(`^${NAME}(?:\\.${NAME}){0,3}$`, 'u');
/** Names that programs give to what every object has. */
const OF_OBJECTS = new Set(['constructor', 'prototype', ...Object.getOwnPropertyNames(Object.prototype)]);

/** A name in a profile: one to four parts with dots between them, as `profile.<name>` is written in `where`. */
export const ProfileKey = z
  .string()
  .max(LIMITS.profileKeyCharsMax)
  .refine(
    (key) => KEY.test(key) && key.split('.').every((part) => !OF_OBJECTS.has(part)),
    'a name has one to four parts of letters, digits and "_" with dots between them, a letter first, such as paths.logs',
  );
export type ProfileKey = z.infer<typeof ProfileKey>;

/** A fact of a device that the administrator has given: who, when, what. */
export const GivenValue = z.strictObject({ value: Json, by: Actor, at: Instant });
export type GivenValue = z.infer<typeof GivenValue>;

/** A graphics card as the device found it. */
export const GpuInfo = z.strictObject({
  vendor: z.enum(['nvidia', 'amd']),
  name: z.string().max(128),
  /** Null where nobody could say. */
  memoryMb: z.int().min(0).nullable(),
  driver: z.string().max(64).optional(),
});
export type GpuInfo = z.infer<typeof GpuInfo>;

/** Names as they come over a wire. `__proto__` would be dropped without a word by what reads a record. */
const namesFirst = (given: unknown, context: z.core.$RefinementCtx): unknown => {
  const hidden = isObject(given) && Object.keys(given).includes('__proto__');
  if (hidden) context.addIssue({ code: 'custom', path: ['__proto__'], message: 'no value may have this name' });
  return given;
};

/** Values by name, as they are recorded. */
export const ProfileValues = z.record(ProfileKey, Json);
export type ProfileValues = z.infer<typeof ProfileValues>;

/** What an administrator says of a device: names that get a value, and names that have none any more. */
export const ProfileChange = {
  set: z
    .preprocess(namesFirst, z.record(z.string(), Json))
    .superRefine((values, context) => {
      for (const [key, value] of Object.entries(values).slice(0, LIMITS.profileKeysMax + 1)) {
        const message = wrongKey(key) ?? wrongValue(key, value);
        if (message !== undefined) context.addIssue({ code: 'custom', path: [key], message });
      }
    })
    .optional(),
  unset: z.array(ProfileKey).max(LIMITS.profileKeysMax).optional(),
} as const;

const SECRET_PARTS = new Set([
  'password',
  'passwd',
  'passphrase',
  'secret',
  'secrets',
  'token',
  'credential',
  'credentials',
]);
const SECRET_NAMES = /(?:api|private|access|secret|ssh|signing)_?keys?$/iu;

/** Whether a name says that its value is a secret. */
export function isSecretName(name: string): boolean {
  const parts = name
    .replaceAll(/([a-z0-9])([A-Z])/gu, '$1_$2')
    .toLowerCase()
    .split(/[._-]/u);
  return parts.some((part) => SECRET_PARTS.has(part)) || SECRET_NAMES.test(name);
}

const NO_SECRETS =
  'is the name of a secret, and everybody who looks at devices sees their profiles: keep it on the device, as a secret of its client (--secrets), and name it in commands';

/** What is wrong with a name that an administrator gives; undefined when nothing is. */
export function wrongKey(key: string): string | undefined {
  const parsed = ProfileKey.safeParse(key);
  if (!parsed.success) return parsed.error.issues[0]?.message ?? 'is no name';
  if (isSecretName(key)) return NO_SECRETS;
  if (Object.hasOwn(ELSEWHERE, key)) return ELSEWHERE[key];
  if (PROFILE_GROUPS.includes(key)) return `is a group of names: set ${key}.<name>, such as ${exampleIn(key)}`;
  const [group = ''] = key.split('.', 1);
  const members = Object.keys(PROFILE_KEYS).filter((known) => known.startsWith(`${group}.`));
  if (!key.includes('.') || members.length === 0 || members.includes(`${group}.*`) || members.includes(key))
    return undefined;
  // A name next to ours that differs in a letter would decide nothing, and nobody would see why.
  const meant = meantName(key, members);
  return meant === undefined ? undefined : `is no name of the group ${group}; did you mean "${meant}"?`;
}

const exampleIn = (group: string): string =>
  ({ paths: 'paths.logs', addresses: 'addresses.ip', preferences: 'preferences.hours' })[group] ??
  Object.keys(PROFILE_KEYS).find((known) => known.startsWith(`${group}.`)) ??
  `${group}.name`;

const TYPE_WORDS: Readonly<Record<ProfileType, string>> = {
  text: 'a text',
  number: 'a number that is not negative, such as 24',
  count: 'a whole number that is not negative, such as 4',
  texts: 'a list of texts, such as ["db"]',
};

/** What is wrong with a value of this name; undefined when nothing is. */
export function wrongValue(key: string, value: Json): string | undefined {
  const type = typeOfKey(key);
  if (type !== undefined && !hasType(value, type)) return `must be ${TYPE_WORDS[type]}`;
  if (key === 'os' && !/^[a-z][a-z0-9_-]{0,31}$/iu.test(typeof value === 'string' ? value : ''))
    return 'must be the name of a system alone, such as linux, macos or windows; a version goes into os_version';
  return wrongJson(value, 0);
}

function hasType(value: Json, type: ProfileType): boolean {
  if (type === 'text') return typeof value === 'string';
  if (type === 'texts') return Array.isArray(value) && value.every((item) => typeof item === 'string');
  return typeof value === 'number' && value >= 0 && (type === 'number' || Number.isInteger(value));
}

/** Control characters, and those that turn the direction of text or cannot be seen. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY/u;

function wrongJson(value: Json, depth: number): string | undefined {
  if (value === null) return 'must not be null: a name without a value is unset';
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return 'must be a finite number';
    return Number.isInteger(value) && !Number.isSafeInteger(value)
      ? 'is a number that loses digits; write it as a text'
      : undefined;
  }
  if (typeof value === 'string') return wrongText(value);
  if (typeof value !== 'object') return undefined;
  if (depth === LIMITS.profileDepthMax) return `must not be nested deeper than ${LIMITS.profileDepthMax}`;
  for (const [name, item] of Object.entries(value)) {
    const wrong = (Array.isArray(value) ? undefined : wrongName(name)) ?? wrongJson(item, depth + 1);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function wrongText(text: string): string | undefined {
  if (UNPRINTABLE.test(text)) return 'must not have control characters, nor any that hide or turn text around';
  return PRIVATE_KEY.test(text)
    ? 'is a private key, and everybody who looks at devices sees their profiles'
    : undefined;
}

function wrongName(name: string): string | undefined {
  if (isSecretName(name)) return `has a field that ${NO_SECRETS}`;
  if (name.startsWith('__') || OF_OBJECTS.has(name)) return 'has a field whose name no value may have';
  return wrongText(name);
}

const encoder = new TextEncoder();

/** What is wrong with all values of a device together; undefined when nothing is. */
export function wrongTogether(values: ProfileValues): string | undefined {
  const keys = Object.keys(values).toSorted();
  if (keys.length > LIMITS.profileKeysMax)
    return `has at most ${LIMITS.profileKeysMax} names, and these would be ${keys.length}`;
  const bytes = encoder.encode(JSON.stringify(values)).length;
  if (bytes > LIMITS.profileBytesMax)
    return `has at most ${LIMITS.profileBytesMax} bytes as JSON, and this would be ${bytes}`;
  const outer = keys.find((key) => keys.some((other) => other.startsWith(`${key}.`)));
  if (outer === undefined) return undefined;
  const inner = keys.find((key) => key.startsWith(`${outer}.`)) ?? outer;
  return `cannot have both ${outer} and ${inner}, which lies inside of it: unset one`;
}
