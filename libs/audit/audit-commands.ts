// The commands of one attempt against the rules that no command may break, from the attempt's commits and from what the run
// decided. Pure. An exact command of a request needs none of this: TASK_STARTED is the fact that allows it, and it is never issued.
//
//   COMMAND_JUDGED ──allow, log──────────────────────────────► COMMAND_ISSUED ──► COMMAND_FINISHED, at most once
//        ├────approve──► ATTEMPT_ASKED ──► the run's decision ──►┘
//        │                       COMMAND_ISSUED ──its device asks──► COMMAND_JUDGED (approve)
//        └────deny──────► nothing
import { isDeepStrictEqual } from 'node:util';
import type { ApprovalDecision, AttemptCommit, CommandCall, CommandId, RecordedAttemptEvent } from '#proto';

/** What the run says about its approvals, by their id: decisions in order. */
export type DecisionClaims = ReadonlyMap<
  string,
  readonly { readonly decision: ApprovalDecision; readonly by: string }[]
>;

interface Judged {
  readonly decision: string;
  readonly command: CommandCall;
}

interface Progress {
  readonly judged: Map<CommandId, Judged>;
  readonly yes: Set<CommandId>;
  readonly issued: Set<CommandId>;
  readonly known: Set<CommandId>;
}

const YES: ReadonlySet<ApprovalDecision> = new Set(['approved', 'edited']);

/** What is wrong, with the number of the commit; empty for a sound attempt. */
export function auditCommands(
  commits: readonly AttemptCommit[],
  decisions: DecisionClaims,
): { readonly number: number; readonly message: string }[] {
  const progress: Progress = { judged: new Map(), yes: new Set(), issued: new Set(), known: new Set() };
  return commits.flatMap(({ number, events }) =>
    events.flatMap((event) => problemsOf(event, progress, decisions).map((message) => ({ number, message }))),
  );
}

function problemsOf(event: RecordedAttemptEvent, progress: Progress, decisions: DecisionClaims): string[] {
  switch (event.type) {
    case 'COMMAND_JUDGED': {
      const { commandId, decision, command, origin } = event.data;
      progress.judged.set(commandId, { decision, command });
      // Its device did not run it: then it is issued anew, once a person has said so.
      if (origin === 'device') progress.issued.delete(commandId);
      return [];
    }
    case 'ATTEMPT_SIGNALLED': {
      if (event.data.signal !== 'decision') return [];
      const { approvalId, decision, by } = event.data;
      if (YES.has(decision)) progress.yes.add(approvalId);
      const claimed = decisions.get(approvalId) ?? [];
      const same = claimed.some((one) => one.decision === decision && one.by === by.id);
      return same ? [] : [`${approvalId} is ${decision} by ${by.id}, and the run says nothing of it`];
    }
    case 'COMMAND_ISSUED':
      return issued(event.data, progress);
    case 'COMMAND_FINISHED': {
      const { commandId, state } = event.data;
      const twice = progress.known.has(commandId) ? [`${commandId} ended twice`] : [];
      // Nobody knew what became of it: then the truth may still follow, once.
      if (state !== 'OUTCOME_UNKNOWN') progress.known.add(commandId);
      return twice;
    }
    default:
      return [];
  }
}

/** I6: no command without the policy's word, and without a person's where the policy wants one. */
function issued({ commandId, command }: { commandId: CommandId; command: CommandCall }, progress: Progress): string[] {
  const judged = progress.judged.get(commandId);
  const repeated = progress.issued.has(commandId) ? [`${commandId} was issued twice`] : [];
  progress.issued.add(commandId);
  if (judged === undefined) return [...repeated, `${commandId} was issued and never judged`];
  if (!isDeepStrictEqual(judged.command, command))
    return [...repeated, `${commandId} was issued as another command than was judged`];
  if (judged.decision === 'deny') return [...repeated, `${commandId} was issued although it was denied`];
  if (judged.decision === 'approve' && !progress.yes.has(commandId)) {
    return [...repeated, `${commandId} was issued and nobody approved it`];
  }
  return repeated;
}
