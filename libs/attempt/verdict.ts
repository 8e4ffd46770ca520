import {
  type AgentProfile,
  type ApprovalMode,
  AskedWall,
  type CommandCall,
  type CommandOutcome,
  isObject,
  type DeviceId,
  type PolicyVerdict,
  missingBehind,
  NO_WALL,
  WALL_VIEWS,
  wallOn,
} from '#proto';
import { EXEC_CLI, isExecAliased } from '#libs/constellation';
import type { AttemptOrder, Stop } from './attempt.js';
import type { CommandRecord } from './book.js';
import { NO_SUCH_TOOL } from './recorded-outcomes.js';

interface JudgedDevice {
  readonly deviceId: DeviceId;
  readonly os: string;
  readonly tags: readonly string[];
}

/** What says of a call on a device whether it may be made, and what it has to be given. */
interface Judge {
  judge(call: CommandCall, device: JudgedDevice): PolicyVerdict;
  wall(call: CommandCall, device: JudgedDevice): AskedWall;
}

export interface Judging {
  readonly policy: Judge;
  readonly profile: AgentProfile | undefined;
  readonly deviceId: DeviceId;
  /** How this run asks for approvals. */
  readonly mode: ApprovalMode;
  /** Its agent wants a person to confirm it, whatever the policy says. */
  readonly confirm?: boolean;
}

/** What is said of a call before it is made, and what it would be given on its device. */
export interface JudgedCall {
  readonly verdict: PolicyVerdict;
  readonly wall: AskedWall;
}

/** What the policy says, as the run wants it: it may ask more often, or never, which is a no. */
export function judgedIn(
  { policy, profile, deviceId, mode, confirm = false }: Judging,
  command: CommandCall,
): JudgedCall {
  const tools = profile?.tools ?? [];
  const isAlias = command.tool === EXEC_CLI && isExecAliased(tools);
  if (tools.length > 0 && !isAlias && !tools.some(({ name }) => name === command.tool))
    return { verdict: noSuchTool(tools.map(({ name }) => name)), wall: without('the device has no such tool') };
  const device = { deviceId, os: profile?.os ?? '', tags: profile?.tags ?? [] };
  const fits = policy.wall(command, device);
  const { wall, missing } = command.tool === EXEC_CLI ? behind(profile, fits) : { wall: NO_LINE, missing: false };
  const unseen = missing && fits.onlyTells !== true ? wall : undefined;
  const judged = seeing(policy.judge(command, device), unseen);
  return { verdict: inMode(mode, confirm ? confirmed(judged) : judged), wall };
}

/** What the wall of the device makes of it; `missing`: something that it has to see is not shown there. */
function behind(profile: AgentProfile | undefined, fits: AskedWall): { wall: AskedWall; missing: boolean } {
  const has = profile?.wall;
  if (has === undefined) return { wall: without('the device does not say that it has a wall'), missing: false };
  if (has.kind === NO_WALL) return { wall: without('the device has no wall'), missing: false };
  const shown = WALL_VIEWS.filter((view) => has.views.includes(view));
  const user = has.runsAs === undefined ? {} : { runsAs: has.runsAs };
  return { wall: { ...wallOn(fits, shown), ...user }, missing: missingBehind(fits, shown).length > 0 };
}

const without = (reason: string): AskedWall => ({ kind: 'none', views: [], reason });
const NO_LINE = without('only command lines run behind a wall');

/** What cannot be shown truly is not run unasked: a false answer is worse than a question. */
function seeing(verdict: PolicyVerdict, wall: AskedWall | undefined): PolicyVerdict {
  if (wall === undefined || verdict.decision === 'approve' || verdict.decision === 'deny') return verdict;
  const reasons = [wall.reason ?? '', ...verdict.reasons].slice(0, REASONS_MAX);
  return { ...verdict, decision: 'approve', rule: 'wall.view', reasons };
}
const REASONS_MAX = 20;

/** An agent may want to be asked about more than the policy does, and never about less. */
function confirmed(verdict: PolicyVerdict): PolicyVerdict {
  if (verdict.decision === 'approve' || verdict.decision === 'deny') return verdict;
  const reasons = ['its agent wants a person to confirm it', ...verdict.reasons].slice(0, REASONS_MAX);
  return { ...verdict, decision: 'approve', rule: 'agent.confirm', reasons, grantable: false };
}

function inMode(mode: ApprovalMode, verdict: PolicyVerdict): PolicyVerdict {
  const { decision } = verdict;
  if (mode === 'always' && (decision === 'allow' || decision === 'log')) {
    return { ...verdict, decision: 'approve', reasons: ['the run asks for every command', ...verdict.reasons] };
  }
  if (mode === 'never' && decision === 'approve') {
    return { ...verdict, decision: 'deny', reasons: [...verdict.reasons, 'the run asks nobody'] };
  }
  return verdict;
}

interface Asking {
  readonly stop: Stop | null;
  readonly order: AttemptOrder;
}

/**
 * Whether a device did not run a command because a person has to approve it there, and one may be asked: once, about what nobody was
 * asked. Without a journal nobody could send it again.
 */
export function wantsPerson(
  record: CommandRecord,
  { error, startedAt }: CommandOutcome,
  { stop, order }: Asking,
): boolean {
  const { ask, judged, issued } = record;
  if (stop !== null || order.start.approval === 'never' || error?.code !== 'APPROVAL_REQUIRED' || startedAt !== null)
    return false;
  return (
    issued?.journalId !== null && ask === null && judged.length > 0 && judged.every(({ origin }) => origin !== 'device')
  );
}

/** What a device says of a command that it did not run: its words for a person, and what it would give it. */
export function judgedByDevice(before: PolicyVerdict, { error, result }: CommandOutcome): JudgedCall {
  const proposed = AskedWall.safeParse(isObject(result) ? result['wall'] : undefined);
  const { class: commandClass } = before;
  const reasons = [error?.message.slice(0, REASON_CHARS_MAX).toWellFormed() ?? '', ...before.reasons].slice(
    0,
    REASONS_MAX,
  );
  const verdict = { class: commandClass, decision: 'approve', rule: 'device', reasons, grantable: false } as const;
  return { verdict, wall: proposed.success ? proposed.data : without('the device does not say what it would give it') };
}
const REASON_CHARS_MAX = 500;

/** Nobody is asked about a tool that is not there. */
function noSuchTool(names: readonly string[]): PolicyVerdict {
  const reason = `the device has no such tool; it has ${names.join(', ')}`;
  return { class: 'privileged', decision: 'deny', rule: NO_SUCH_TOOL, reasons: [reason], grantable: false };
}
