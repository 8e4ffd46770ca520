// The words with which a person looks at what agents wait for, and decides it.
import { define, WATCHED, wholeFrom, type CliCommand } from '../../terminal/index.js';
import type { ApprovalsWords } from './approvals.runner.js';
import { defineDecisions } from './control.command.js';

const LIMIT_MAX = 1_000;

const approvals = () => import('./approvals.runner.js');

export function defineApprovals(program: CliCommand): void {
  const list = define(program, 'approvals', 'what agents wait for a person to decide', [
    'orrery approvals',
    'orrery approvals --all --json',
    'orrery approvals --watch',
  ])
    .option('--all', 'also what is decided')
    .option('--limit <n>', 'at most this many', wholeFrom(1, LIMIT_MAX), 100)
    .option(...WATCHED)
    .does(async (context, words: ApprovalsWords) => (await approvals()).listApprovals(context, words));
  define(list, 'show', 'one with the exact command, why it is asked and what the agent was thinking', [
    'orrery approvals show 0k3j….web.1.2.0',
  ])
    .argument('<approval>', 'as listed')
    .does(async (context, id: string) => (await approvals()).showApproval(context, id));
  defineDecisions(program);
}
