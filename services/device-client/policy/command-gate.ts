import {
  type AskedWall,
  type CommandCall,
  type CommandOutcome,
  type CommandWall,
  type Json,
  type Judged,
  missingBehind,
  type PolicyVerdict,
  wallOn,
  wallOnly,
  type WallView,
} from '#proto';
import { endedWithout, EXEC_CLI_DEFINITION } from '../exec/index.js';
import { secretForField, secretsIn } from '../secrets/index.js';

/** How a command was judged before it came, and what its approval gives it; absent: who approved it was shown nothing. */
export interface JudgedOrder extends Judged {
  readonly wall?: CommandWall | undefined;
}

/** What this device says of a command; `hasLocal`: its owner has written a policy for it. */
export interface OwnVerdict {
  readonly verdict: PolicyVerdict;
  /** What it would be given here, if a person approves it. */
  readonly wall: AskedWall;
  readonly hasLocal: boolean;
}

/**
 * The device's own word on a command, after the service has spoken: it can say no, and nothing else. An exact command of a
 * request was written by its requester; of those only what the owner of the device never wants is refused.
 */
export function ownRefusalOf(
  { verdict, wall, hasLocal }: OwnVerdict,
  judged: Judged | undefined,
): CommandOutcome | undefined {
  const { decision, rule, reasons } = verdict;
  const why = `rule ${rule}${reasons[0] === undefined ? '' : `: ${reasons[0]}`}`;
  if (decision === 'deny' && (judged !== undefined || hasLocal)) {
    return endedWithout('FAILED', 'POLICY_DENIED', `the policy of this device denies it, ${why}`);
  }
  if (decision === 'approve' && judged !== undefined && judged.approvalId === undefined) {
    return asking(`the policy of this device wants a person to approve it, ${why}`, wall);
  }
  return undefined;
}

/** It did not run: a person is to be asked, and shown what it would be given. */
const asking = (message: string, wall: AskedWall): CommandOutcome => ({
  ...endedWithout('FAILED', 'APPROVAL_REQUIRED', message),
  result: { wall: wall as unknown as Json },
});

export type Held =
  | { readonly kind: 'held'; readonly wall: CommandWall }
  | { readonly kind: 'refused'; readonly outcome: CommandOutcome };

/**
 * The wall of a judged command on a device that shows these views behind it. What it cannot show truly asks a person, but for
 * lines that only tell how the machine is. What was approved
 * gets what the approval says, and nothing more; where that says nothing, no wall if it is more than one that nobody is asked about.
 */
export function heldBehind(fits: AskedWall, shown: readonly WallView[], judged: JudgedOrder): Held {
  if (judged.approvalId !== undefined && judged.wall !== undefined) return approvedBehind(judged.wall, shown, fits);
  const isMore = fits.internet === true || fits.writable !== undefined;
  if (isMore && judged.approvalId !== undefined) return { kind: 'held', wall: { kind: 'none', views: fits.views } };
  const missing = missingBehind(fits, shown);
  if (missing.length === 0) return { kind: 'held', wall: wallOnly(fits) };
  const isLet = judged.approvalId !== undefined || fits.onlyTells === true;
  if (isLet) return { kind: 'held', wall: { kind: 'none', views: fits.views } };
  const wall = wallOn(fits, shown);
  return { kind: 'refused', outcome: asking(`${wall.reason ?? ''}: a person has to approve it`, wall) };
}

function approvedBehind(granted: CommandWall, shown: readonly WallView[], fits: AskedWall): Held {
  if (granted.kind === 'none') return { kind: 'held', wall: wallOnly(granted) };
  const behind = { ...granted, views: granted.views.filter((view) => shown.includes(view)) };
  const missing = missingBehind({ ...behind, views: fits.views }, behind.views);
  if (missing.length === 0) return { kind: 'held', wall: wallOnly(behind) };
  const message = `the wall that was approved does not show it here what it needs for a true answer (${missing.join(', ')})`;
  return { kind: 'refused', outcome: asking(message, wallOn(fits, shown)) };
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
  const wanted = tool === EXEC_CLI_DEFINITION.name ? secretsIn(args) : [secretForField(tool, args)];
  return wanted.find((name) => name !== undefined && !names.includes(name));
}

/**
 * The names that are there are not said: they tell what lies on the device, and who guesses names should learn nothing from
 * a wrong one. Who runs the device finds them in its log.
 */
export const unknownSecretOutcome = (name: string): CommandOutcome =>
  endedWithout('FAILED', 'UNKNOWN_SECRET', `this device has no secret "${name.slice(0, 64)}"`);

export const callOf = (
  tool: string,
  args: Readonly<Record<string, Json>> | null | undefined,
  on?: CommandCall['on'],
): CommandCall => ({ tool, arguments: { ...args }, ...(on !== undefined && { on }) });
