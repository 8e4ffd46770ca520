import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import {
  defaultPolicy,
  type CommandPolicy,
  type JudgedDevice,
  type KeptPictures,
  parsePolicy,
  type PolicyFile,
  isAbout,
  settingsFor,
  type Settings,
  verdictOf,
  wallOf,
} from '../policy/index.js';
import type { CommandCall } from '#proto';
import { type Links, onlyTells } from '../calls/index.js';
import { judgeCommand } from './judge-command.js';
import type { ShellParser } from '../script/index.js';

export interface PolicySource {
  /** The text of a policy file; absent: the built-in policy alone. */
  readonly file?: string | undefined;
  /** Patterns of more paths that hold secrets, beside those of the file. */
  readonly sensitivePaths?: readonly string[] | undefined;
  /** Programs whose windows may be worked in, where the file names none. */
  readonly applications?: readonly string[] | undefined;
  /** The files of the device that judges; undefined for who judges for others. */
  readonly links?: Links | undefined;
}

/** Settings that are kept ready. */
const READY_MAX = 100;

/**
 * Makes a policy ready to judge.
 * @throws Error with one sentence per line when the file is not a policy.
 */
export function openPolicy({ file, links, ...more }: PolicySource, parser: ShellParser): CommandPolicy {
  const policy = withMore(file === undefined ? undefined : required(file), more);
  const hash = createHash('sha256')
    .update(canonicalize({ builtIn: defaultPolicy, engine: ENGINE, file: policy ?? null }) ?? '')
    .digest('hex');
  const settings = settingsCache(policy, links);
  const opened: CommandPolicy = {
    hash,
    judge(command, device) {
      const ready = settings(device);
      return verdictOf(judgeCommand(command, { settings: ready, parser, links }), ready.defaults);
    },
    wall(command, device) {
      const ready = settings(device);
      const findings = judgeCommand(command, { settings: ready, parser, links });
      const fits = wallOf(findings, verdictOf(findings, ready.defaults).decision);
      const mayLack = fits.kind === 'read' && fits.views.length > 0;
      const isFixed = !findings.some(({ isChangeable }) => isChangeable === true);
      return mayLack && isFixed && isTelling(command) ? { ...fits, onlyTells: true } : fits;
    },
  };
  inners.set(opened, { settings, parser, links, file: policy });
  return opened;
}

/** A line and nothing else: what is given to it beside could say what it does. */
function isTelling({ tool, arguments: given }: CommandCall): boolean {
  const { command: line } = given;
  const isAlone = Object.keys(given).every((name) => name === 'command' || name === 'timeout');
  return tool === 'EXEC_CLI' && typeof line === 'string' && isAlone && onlyTells(line);
}

interface Inner {
  readonly settings: (device: JudgedDevice | undefined) => Settings;
  readonly parser: ShellParser;
  readonly links: Links | undefined;
  readonly file: PolicyFile | undefined;
}

/** What an explanation needs of a policy beyond its answers. */
const inners = new WeakMap<CommandPolicy, Inner>();
export const innerOf = (policy: CommandPolicy): Inner | undefined => inners.get(policy);

/** What becomes of pictures of this device's screen when their run has ended. */
export const picturesKept = (policy: CommandPolicy, device: JudgedDevice | undefined): KeptPictures =>
  inners.get(policy)?.settings(device).pictures ?? { keep: 'all' };

/** Raised when the built-in rules change: the hash of a policy says which rules spoke. */
const ENGINE = 5;

function withMore(
  policy: PolicyFile | undefined,
  { sensitivePaths = [], applications = [] }: Pick<PolicySource, 'sensitivePaths' | 'applications'>,
): PolicyFile | undefined {
  if (sensitivePaths.length === 0 && applications.length === 0) return policy;
  return {
    version: 1,
    ...(applications.length > 0 && { applications: [...applications] }),
    ...policy,
    sensitivePaths: [...(policy?.sensitivePaths ?? []), ...sensitivePaths],
  };
}

function required(file: string): PolicyFile {
  const parsed = parsePolicy(file);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return parsed.policy;
}

/** The settings of a policy by device. */
function settingsCache(
  policy: PolicyFile | undefined,
  links: Links | undefined,
): (device: JudgedDevice | undefined) => Settings {
  const ready = new Map<string, Settings>();
  return (device) => {
    // Devices of which the same entries speak share what was made ready.
    const key = (policy?.devices ?? []).map((entry) => (isAbout(entry, device) ? '1' : '0')).join('');
    const known = ready.get(key);
    if (known !== undefined) return known;
    if (ready.size >= READY_MAX) ready.clear();
    const made = settingsFor(policy, device, links);
    ready.set(key, made);
    return made;
  };
}
