import type { Wall } from '#libs/command-policy';
import type { CommandCall, CommandOutcome, Json, Judged, PolicyVerdict } from '#proto';
import { endedWithout, EXEC_CLI_DEFINITION } from '../exec/index.js';
import type { CommandWall, WallView } from '../sandbox/index.js';
import { secretsIn } from '../secrets/index.js';

/** What this device says of a command; `hasLocal`: its owner has written a policy for it. */
export interface OwnVerdict {
  readonly verdict: PolicyVerdict;
  readonly hasLocal: boolean;
}

/**
 * The device's own word on a command, after the service has spoken: it can say no, and nothing else. An exact command of a
 * request was written by its requester; of those only what the owner of the device never wants is refused.
 */
export function ownRefusalOf(
  { verdict, hasLocal }: OwnVerdict,
  judged: Judged | undefined,
): CommandOutcome | undefined {
  const { decision, rule, reasons } = verdict;
  const why = `rule ${rule}${reasons[0] === undefined ? '' : `: ${reasons[0]}`}`;
  if (decision === 'deny' && (judged !== undefined || hasLocal)) {
    return endedWithout('FAILED', 'POLICY_DENIED', `the policy of this device denies it, ${why}`);
  }
  if (decision === 'approve' && judged !== undefined && judged.approvalId === undefined) {
    return endedWithout(
      'FAILED',
      'APPROVAL_REQUIRED',
      `the policy of this device wants a person to approve it, ${why}`,
    );
  }
  return undefined;
}

export type Held =
  | { readonly kind: 'held'; readonly wall: CommandWall }
  | { readonly kind: 'refused'; readonly outcome: CommandOutcome };

/**
 * The wall of a judged command on a device that shows these views behind it. What it cannot show truly asks a person, whose
 * approval lets the command through as it is.
 */
export function heldBehind({ kind, views }: Wall, shown: readonly WallView[], judged: Judged): Held {
  const missing = kind === 'none' ? undefined : views.find((view) => !shown.includes(view));
  if (missing === undefined) return { kind: 'held', wall: { kind, views } };
  if (judged.approvalId !== undefined) return { kind: 'held', wall: { kind: 'none', views } };
  const message = `the wall of this device cannot show it what it needs for a true answer (${missing}): a person has to approve it`;
  return { kind: 'refused', outcome: endedWithout('FAILED', 'APPROVAL_REQUIRED', message) };
}

/**
 * Patterns of the paths that hold the key of the device, its journal, its outputs and its secrets. Where commands work may lie
 * below the data directory, so that is not meant as a whole.
 */
export function ownPaths({
  dataDir,
  secretsDir,
}: {
  readonly dataDir: string;
  readonly secretsDir: string | null;
}): string[] {
  const kept = ['identity.json*', 'commands.journal*', 'token', 'outputs/**'].map((name) => `${dataDir}/${name}`);
  return secretsDir === null ? kept : [...kept, secretsDir, `${secretsDir}/**`];
}

/** Which of the secrets that a command wants this device does not have. */
export function unknownSecret({ tool, arguments: args }: CommandCall, names: readonly string[]): string | undefined {
  return tool === EXEC_CLI_DEFINITION.name ? secretsIn(args).find((name) => !names.includes(name)) : undefined;
}

/**
 * The names that are there are not said: they tell what lies on the device, and who guesses names should learn nothing from
 * a wrong one. Who runs the device finds them in its log.
 */
export const unknownSecretOutcome = (name: string): CommandOutcome =>
  endedWithout('FAILED', 'UNKNOWN_SECRET', `this device has no secret "${name.slice(0, 64)}"`);

export const callOf = (tool: string, args: Readonly<Record<string, Json>> | null | undefined): CommandCall => ({
  tool,
  arguments: { ...args },
});
