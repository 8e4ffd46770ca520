import { type CommandClass, type PolicyDecision, WALL_VIEWS as VIEWS, type WallView as View } from '#proto';

export { VIEWS, type View };

/**
 * What speaks about a command, in the order in which it is believed: `floor` and `syntax` stand whatever a policy says, `path`
 * gives way to a rule that names the path, `program` to any rule.
 */
export type FindingKind = 'floor' | 'syntax' | 'path' | 'program';

/** One thing that is true of a command. A verdict is the worst of its findings. */
export interface CommandFinding {
  readonly kind: FindingKind;
  readonly class: CommandClass;
  /** The decision is never below this, whatever the class would give. */
  readonly atLeast?: PolicyDecision;
  /** A policy has decided: neither the class nor `atLeast` counts. */
  readonly decided?: PolicyDecision;
  readonly rule: string;
  readonly reason: string;
  /** Absent: true. */
  readonly grantable?: false;
  /** The path that it is about, resolved. */
  readonly path?: string;
  /** What of the machine the command must see for its answer to be true. */
  readonly views?: readonly View[];
  /** What it reads lies where commands may write: another one can put something else there before it is read. */
  readonly isChangeable?: true;
  /** What it does is that it changes what lies in this place, as it is written, and nothing else. */
  readonly changes?: string;
}

/** All that is seen, each once, in the order of `VIEWS`. */
export const viewsIn = (findings: readonly CommandFinding[]): readonly View[] =>
  VIEWS.filter((view) => findings.some(({ views }) => views?.includes(view) === true));

export const CLASSES: readonly CommandClass[] = ['read', 'write', 'network', 'destructive', 'privileged'];
export const DECISIONS: readonly PolicyDecision[] = ['allow', 'log', 'approve', 'deny'];

export const worseClass = (a: CommandClass, b: CommandClass): CommandClass =>
  CLASSES.indexOf(a) >= CLASSES.indexOf(b) ? a : b;
export const stricterDecision = (a: PolicyDecision, b: PolicyDecision): PolicyDecision =>
  DECISIONS.indexOf(a) >= DECISIONS.indexOf(b) ? a : b;

/** Never runs, not even when a person approves. */
export const floor = (rule: string, reason: string): CommandFinding => ({
  kind: 'floor',
  class: 'privileged',
  atLeast: 'deny',
  rule: `floor.${rule}`,
  reason,
  grantable: false,
});

/** The text cannot be understood: no. */
export const notUnderstood = (reason: string): CommandFinding => ({
  kind: 'syntax',
  class: 'privileged',
  atLeast: 'deny',
  rule: 'not-understood',
  reason,
  grantable: false,
});

/** What runs is known only when it runs: a person decides each time. */
export const dynamic = (rule: string, reason: string): CommandFinding => ({
  kind: 'syntax',
  class: 'privileged',
  atLeast: 'approve',
  rule,
  reason,
  grantable: false,
});
