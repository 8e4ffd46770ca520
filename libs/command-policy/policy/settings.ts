import type { CommandClass } from '#proto';
import { defaultPolicy } from './default-policy.js';
import type { JudgedDevice } from './policy.js';
import type { KeptPictures, PolicyBody, PolicyFile, PolicyRule, ToolRule } from './policy-file.js';
import { pathSet, patternsFrom, type PathSet, type Start } from '../words/index.js';
import { GUARDED_PATHS, SENSITIVE_PATHS } from './sensitive-paths.js';
import type { Defaults } from './verdict.js';

/** A policy made ready for one device. */
export interface Settings {
  readonly defaults: Defaults;
  readonly rules: readonly PolicyRule[];
  readonly floor: NonNullable<PolicyBody['floor']>;
  readonly sensitive: PathSet;
  /** What decides what runs or who may come in. */
  readonly guarded: PathSet;
  readonly writable: PathSet;
  readonly programDirectories: ReadonlySet<string>;
  readonly tools: ReadonlyMap<string, ToolRule>;
  readonly phoneApplications: ReadonlySet<string>;
  /** Programs whose windows may be worked in, in lower case and without `.exe`. */
  readonly applications: ReadonlySet<string>;
  readonly pictures: KeptPictures;
}

/**
 * The built-in policy, over it the file, over it what the file says about this device. Floors and sensitive paths add up. `known`:
 * what is known of the device that judges.
 */
export function settingsFor(
  file: PolicyFile | undefined,
  device: JudgedDevice | undefined,
  known: { readonly starts: readonly Start[]; readonly homes: readonly string[] } = { starts: [], homes: [] },
): Settings {
  const overrides = (file?.devices ?? []).filter((entry) => isAbout(entry, device));
  const bodies: readonly PolicyBody[] = [defaultPolicy, ...(file === undefined ? [] : [file]), ...overrides];
  const latest = bodies.toReversed();
  const last = <K extends keyof PolicyBody>(key: K) => latest.find((body) => body[key] !== undefined)?.[key];
  const decided = (of: CommandClass) =>
    latest.map(({ defaults }) => defaults?.[of]).find((decision) => decision !== undefined) ??
    defaultPolicy.defaults[of];
  /** From where commands start, which can be the home of whoever runs them. */
  const called = (pattern: string): readonly string[] => {
    const atHome = pattern.startsWith('~/') ? known.homes.map((home) => `${home}${pattern.slice(1)}`) : [];
    return [pattern, ...atHome].flatMap((one) => patternsFrom(one, known.starts));
  };
  return {
    defaults: {
      read: decided('read'),
      write: decided('write'),
      network: decided('network'),
      destructive: decided('destructive'),
      privileged: decided('privileged'),
    },
    rules: latest.flatMap(({ rules }) => rules ?? []),
    floor: bodies.flatMap(({ floor }) => floor ?? []),
    sensitive: pathSet([...SENSITIVE_PATHS, ...bodies.flatMap(({ sensitivePaths }) => sensitivePaths ?? [])], called),
    guarded: pathSet(GUARDED_PATHS, called),
    writable: pathSet(last('writablePaths') ?? []),
    programDirectories: new Set(last('programDirectories')),
    phoneApplications: new Set(last('phoneApplications')),
    tools: new Map(bodies.flatMap(({ tools }) => Object.entries<ToolRule>(tools ?? {}))),
    pictures: last('pictures') ?? { keep: 'all' },
    applications: new Set((last('applications') ?? []).map((name) => name.toLowerCase().replace(/\.exe$/u, ''))),
  };
}

type Override = NonNullable<PolicyFile['devices']>[number];

/** Whether an entry of `devices` speaks of this one. */
export function isAbout({ match }: Override, device: JudgedDevice | undefined): boolean {
  if (device === undefined) return false;
  return (match.ids ?? []).includes(device.deviceId) || (match.tags ?? []).some((tag) => device.tags.includes(tag));
}
