import { AndroidPackage, CommandClass, issueWords, PolicyDecision } from '#proto';
import { parseDocument } from 'yaml';
import { z } from 'zod';

/** A policy file is read by people: one that is larger is not. */
const POLICY_CHARS_MAX = 256 * 1024;
/** `*` stands for anything; there are no other patterns, so that a rule means what it seems to mean. */
const pattern = z.string().min(1).max(500);
const patterns = z.array(pattern).max(500);
const absolute = (what: string) => z.string().regex(/^(?:\/|~\/|\*\*\/)/u, `${what} must begin with /, ~/ or **/`);
const id = z.string().regex(/^[a-z0-9][a-z0-9.-]{0,63}$/u, 'a rule id is lower-case letters, digits, . and -');

/** Which commands: every part that is given must hold. */
export const RuleMatch = z
  .strictObject({
    /** A program by name, or a tool by its name when it is no shell command. */
    program: z.union([pattern, patterns]).optional(),
    /** The arguments begin with these, each a text with `*`. */
    args: patterns.optional(),
    class: z.union([CommandClass, z.array(CommandClass)]).optional(),
    /** Every path that the command names lies in one of these (`*` within a name, `**` across folders). */
    paths: z.array(absolute('a path')).max(500).optional(),
  })
  .refine((match) => Object.keys(match).length > 0, 'must say at least one of program, args, class, paths');
export type RuleMatch = z.infer<typeof RuleMatch>;

export const PolicyRule = z.strictObject({
  id,
  match: RuleMatch,
  decision: PolicyDecision,
  reason: z.string().max(300).optional(),
});
export type PolicyRule = z.infer<typeof PolicyRule>;

const defaults = z.strictObject({
  read: PolicyDecision,
  write: PolicyDecision,
  network: PolicyDecision,
  destructive: PolicyDecision,
  privileged: PolicyDecision,
});

/** A tool with an argument that is a line for a shell: the line is judged, as that of EXEC_CLI is. */
const ShellTool = z.strictObject({ shellLine: z.string().min(1).max(128) });
/** Of which class a tool is, or where the line stands that says so. */
const ToolRule = z.union([CommandClass, ShellTool], {
  error: `must be one of ${CommandClass.options.join(', ')}, or { shellLine: <name of the argument> }`,
});
export type ToolRule = z.infer<typeof ToolRule>;

/** What a policy may say, for all devices or for some. */
const body = {
  /** What happens to a command whose worst part is of this class. */
  defaults: defaults.partial().optional(),
  /** The first one that matches decides, in the order of the file. */
  rules: z.array(PolicyRule).max(500).optional(),
  /** Never, not even when a person approves: in addition to the built-in floor. */
  floor: z
    .array(z.strictObject({ id, match: RuleMatch, reason: z.string().max(300).optional() }))
    .max(200)
    .optional(),
  sensitivePaths: z.array(absolute('a sensitive path')).max(500).optional(),
  /** Where writing is an ordinary write; everywhere else it is privileged. */
  writablePaths: z.array(absolute('a writable path')).max(200).optional(),
  /** Programs are known by name only when they come from here. */
  programDirectories: z
    .array(z.string().regex(/^\/\S*[^/]$/u, 'a program directory must be an absolute path'))
    .max(50)
    .optional(),
  /** Tools other than EXEC_CLI, by name; what a tool says of itself is not believed. */
  tools: z.record(z.string().max(128), ToolRule).optional(),
  /** Packages of phones that agents may start without being asked. */
  phoneApplications: z.array(AndroidPackage).max(256).optional(),
  /** Programs whose windows agents may work in unasked, by the names of their files; in all others each act waits for a person. */
  applications: z.array(z.string().min(1).max(256)).max(500).optional(),
  /** What becomes of pictures of screens when their run has ended. */
  pictures: z
    .strictObject({
      /** All of them, those that an act or a question rests on, or none. */
      keep: z.enum(['all', 'acts', 'none']).default('all'),
      /** What is kept is dropped so many days after the end. */
      days: z.int().min(1).max(3_650).optional(),
    })
    .optional(),
} as const;

const DeviceMatch = z
  .strictObject({ ids: z.array(z.string()).max(1_000).optional(), tags: z.array(z.string()).max(100).optional() })
  .refine(({ ids, tags }) => ids !== undefined || tags !== undefined, 'must say ids or tags');

export const PolicyFile = z.strictObject({
  version: z.literal(1),
  ...body,
  /** For devices with one of these ids or tags; later entries win, their rules come first. The floor stays. */
  devices: z
    .array(z.strictObject({ match: DeviceMatch, ...body }))
    .max(200)
    .optional(),
});
export type PolicyFile = z.infer<typeof PolicyFile>;
/** Which pictures of screens are kept when their run has ended, and for how long. */
export type KeptPictures = NonNullable<PolicyFile['pictures']>;
export type PolicyBody = Omit<PolicyFile, 'version' | 'devices'>;

export type ParsedPolicy =
  | { readonly ok: true; readonly policy: PolicyFile }
  /** Sentences, each with the path of the field and what would be valid. */
  | { readonly ok: false; readonly errors: readonly string[] };

/** Reads a policy from YAML (or JSON). Never throws. */
export function parsePolicy(text: string): ParsedPolicy {
  if (text.length > POLICY_CHARS_MAX)
    return { ok: false, errors: [`A policy has at most ${POLICY_CHARS_MAX} characters.`] };
  const value = yamlValue(text);
  if (!value.ok) return value;
  const parsed = PolicyFile.safeParse(value.value, { error: issueWords });
  if (parsed.success) return { ok: true, policy: parsed.data };
  return { ok: false, errors: parsed.error.issues.map(sentence) };
}

type YamlValue =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly errors: readonly string[] };

function yamlValue(text: string): YamlValue {
  try {
    const document = parseDocument(text, { uniqueKeys: true, stringKeys: true, merge: false });
    const [first] = document.errors;
    if (first !== undefined)
      return { ok: false, errors: [`The policy is not YAML: ${first.message.split('\n')[0] ?? ''}`] };
    // No aliases: a small file must not become a large value, and a policy should be read where it stands.
    return { ok: true, value: document.toJS({ maxAliasCount: 0 }) as unknown };
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    return { ok: false, errors: [`The policy cannot be read (aliases are not allowed): ${why}`] };
  }
}

function sentence(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join('.');
  return `${path === '' ? 'the policy' : path}: ${issue.message}`;
}
