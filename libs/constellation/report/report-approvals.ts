import type { RecordedRunEvent, RunCommit, RunView } from '#proto';
import { callText, decisionText, usageText, wallText } from '../views/index.js';
import { more, REPORT_LIMITS } from './report-limits.js';
import { cell, cut, fence, span, table } from './report-text.js';

type Requested = Extract<RecordedRunEvent, { type: 'APPROVAL_REQUESTED' }>['data'];
type Decided = Extract<RecordedRunEvent, { type: 'APPROVAL_DECIDED' }>['data'];

const REASONS_MAX = 20;

/** What agents asked and persons decided: the exact command, why it was asked about, and whose word it was. */
export function approvalsSection(commits: readonly RunCommit[]): string {
  const events = commits.flatMap((commit) => commit.events);
  const requested = events.flatMap((event) => (event.type === 'APPROVAL_REQUESTED' ? [event.data] : []));
  if (requested.length === 0) return '';
  const decided = Map.groupBy(
    events.flatMap((event) => (event.type === 'APPROVAL_DECIDED' ? [event.data] : [])),
    ({ approvalId }) => approvalId,
  );
  const { roundsMax } = REPORT_LIMITS;
  const blocks = requested
    .slice(0, roundsMax)
    .map((request) => approval(request, decided.get(request.ask.approvalId) ?? []));
  return ['## Approvals', ...blocks, ...more(requested.length, roundsMax)].join('\n\n');
}

function approval(
  { taskId, attempt, ask, requestedAt, attemptHash }: Requested,
  decisions: readonly Decided[],
): string {
  const rows = [
    ['Asked', `${cell(requestedAt)} by ${cell(ask.agent)} in step ${ask.step} of attempt ${attempt}`],
    ['Device', cell(ask.deviceId)],
    ['Valid until', cell(ask.expiresAt)],
    ...(ask.kind === 'approval'
      ? [
          ['Class', `${ask.class}, by rule ${cell(ask.rule)}`],
          ...ask.reasons.slice(0, REASONS_MAX).map((reason) => ['Reason', cell(reason, 500)]),
          ['Policy', cell(ask.policyHash)],
          ...(ask.wall === undefined
            ? []
            : [
                [
                  'Would be given',
                  cell(`${wallText(ask.wall)}${ask.wall.reason === undefined ? '' : ` (${ask.wall.reason})`}`, 1_000),
                ],
              ]),
        ]
      : []),
    ...decisions.map((decision) => ['Decided', `${cell(decision.decidedAt)} ${cell(decisionText(decision), 1_000)}`]),
    ...(decisions.length === 0 ? [['Decided', 'by nobody']] : []),
    ['Step of the attempt', cell(attemptHash)],
  ];
  const exact = ask.kind === 'approval' ? callText(ask.command) : ask.question;
  return [
    `### ${ask.kind === 'approval' ? 'Approval' : 'Question'} ${span(ask.approvalId)} of task ${span(taskId)}`,
    fence(cut(exact, REPORT_LIMITS.commandLineCharsMax), 'text'),
    table(['', ''], rows),
    ...(ask.thought === '' ? [] : ['What the agent said:', fence(ask.thought, 'text')]),
  ].join('\n\n');
}

/** What the attempts used of models and devices, and what the run was allowed to. */
export function usageSection({ run, commits }: { run: RunView; commits: readonly RunCommit[] }): string {
  const { used } = run;
  const [first] = commits[0]?.events ?? [];
  const options = first?.type === 'RUN_REQUESTED' || first?.type === 'RUN_FORKED' ? first.data.options : undefined;
  const isCounted = used !== undefined && used.llmCalls + used.tokens + used.costUsd > 0;
  if (!isCounted && options?.budget === undefined) return '';
  const rows = [
    ['Used by attempts that have ended', used === undefined ? '-' : usageText(used)],
    ['Budget', options?.budget === undefined ? 'none' : usageText(options.budget)],
  ];
  return `## Usage\n\n${table(['', ''], rows)}`;
}
