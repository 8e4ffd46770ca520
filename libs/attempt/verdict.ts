import type { AgentProfile, ApprovalMode, CommandCall, DeviceId, PolicyVerdict } from '#proto';
import { EXEC_CLI, isExecAliased } from '#libs/constellation';
import { NO_SUCH_TOOL } from './recorded-outcomes.js';

/** What says of a call on a device whether it may be made. */
interface Judge {
  judge(
    call: CommandCall,
    device: { readonly deviceId: DeviceId; readonly os: string; readonly tags: readonly string[] },
  ): PolicyVerdict;
}

export interface Judging {
  readonly policy: Judge;
  readonly profile: AgentProfile | undefined;
  readonly deviceId: DeviceId;
  /** How this run asks for approvals. */
  readonly mode: ApprovalMode;
}

/** What the policy says, as the run wants it: it may ask more often, or never, which is a no. */
export function verdictIn({ policy, profile, deviceId, mode }: Judging, command: CommandCall): PolicyVerdict {
  const tools = profile?.tools ?? [];
  const isAlias = command.tool === EXEC_CLI && isExecAliased(tools);
  if (tools.length > 0 && !isAlias && !tools.some(({ name }) => name === command.tool))
    return noSuchTool(tools.map(({ name }) => name));
  const verdict = policy.judge(command, { deviceId, os: profile?.os ?? '', tags: profile?.tags ?? [] });
  const { decision } = verdict;
  if (mode === 'always' && (decision === 'allow' || decision === 'log')) {
    return { ...verdict, decision: 'approve', reasons: ['the run asks for every command', ...verdict.reasons] };
  }
  if (mode === 'never' && decision === 'approve') {
    return { ...verdict, decision: 'deny', reasons: [...verdict.reasons, 'the run asks nobody'] };
  }
  return verdict;
}

/** Nobody is asked about a tool that is not there. */
function noSuchTool(names: readonly string[]): PolicyVerdict {
  const reason = `the device has no such tool; it has ${names.join(', ')}`;
  return { class: 'privileged', decision: 'deny', rule: NO_SUCH_TOOL, reasons: [reason], grantable: false };
}
