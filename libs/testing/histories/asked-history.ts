import { commandIdOf, DEFAULTS, type Actor, type Ask, type TaskConstellation, type TaskId } from '#proto';
import { findTask, isTerminal, type PersonsWord } from '#libs/constellation';
import { runIdOf } from '#libs/event-log';
import { History, instant, randomOf, START, type HistoryStep } from './history-writer.js';

const ANNA: Actor = { kind: 'person', id: 'anna' };
const STEPS_MAX = 200;
const ASKS_PER_TASK = 4;
const COMMANDS = ['systemctl restart nginx', 'rm -r /srv/old', 'nul \u0000 \u200B'];

/**
 * One whole run whose tasks ask before they end, commands and questions: approved, changed, granted, rejected, answered,
 * expired, withdrawn, revoked, or let through by a grant, as chance has it. The same seed gives the same history.
 */
export function generateAskedHistory({ seed }: { readonly seed: number }): HistoryStep[] {
  const random = randomOf(seed);
  const requestId = `asked-${seed}`;
  const history = new History(runIdOf('default', requestId));
  const requested = {
    requestId,
    namespace: 'default',
    contentHash: 'd'.repeat(64),
    goal: null,
    constellation: PLAN,
    options: {},
    metadata: {},
    labels: { team: 'db', seed: String(seed) },
    requestedBy: { kind: 'external', id: 'ops' },
    requestedAt: instant(START),
    deadlineAt: instant(START + DEFAULTS.runDeadlineMs),
  } as const;
  history.decide([{ kind: 'submit', requested }]);
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    if (isTerminal(history.run)) return history.steps;
    history.now += 1 + Math.floor(random() * 30_000);
    turn(history, random);
  }
  throw new Error(`history ${history.run.runId} did not end`);
}

const PLAN: TaskConstellation = {
  name: 'asked',
  tasks: ['a', 'b', 'c'].map((id, index) => ({
    id,
    name: id,
    description: '',
    tips: [],
    target: { device: index === 1 ? 'web-2' : 'web-1' },
    command: { tool: 'EXEC_CLI', arguments: { command: `echo ${id}` } },
  })),
  lines: [{ id: 'a-c', from: 'a', to: 'c', type: 'unconditional' }],
};

/** Somebody asks, somebody decides, somebody ends, or time goes by. */
function turn(history: History, random: () => number): void {
  const { run } = history;
  const running = [...run.running].map((index) => run.tasks.at(index));
  const task = running[Math.floor(random() * running.length)];
  const chance = random();
  if (task !== undefined && chance < 0.4 && task.asks.length < ASKS_PER_TASK) {
    return ask(history, task.star.id, random);
  }
  if (chance < 0.75) return say(history, random);
  if (task !== undefined && (task.asks.length > 1 || chance > 0.95)) {
    return history.decide([history.endAttempt(task, random() < 0.2, task.star.id)]);
  }
  history.decide([{ kind: 'wake' }]);
}

function ask(history: History, taskId: TaskId, random: () => number): void {
  const task = findTask(history.run, taskId);
  if (task === undefined) return;
  const { attempt, deviceId, asks } = task;
  const step = asks.length + 1;
  const head = {
    approvalId: commandIdOf({ runId: history.run.runId, taskId, attempt }, step),
    deviceId: deviceId ?? '',
    agent: 'LinuxAgent',
    step,
    thought: 'I have to \u001B[31mlook\u001B[0m.',
    plan: ['look', 'act'],
    expiresAt: instant(history.now + 60_000),
  };
  const command = COMMANDS[Math.floor(random() * COMMANDS.length)] ?? '';
  const asked: Ask =
    random() < 0.25
      ? { kind: 'question', ...head, question: 'Which port?' }
      : {
          kind: 'approval',
          ...head,
          command: { tool: 'EXEC_CLI', arguments: { command } },
          class: 'privileged',
          rule: 'program.test',
          reasons: ['it changes a service'],
          policyHash: 'e'.repeat(64),
          grantable: true,
        };
  history.decide([{ kind: 'asked', taskId, attempt, ask: asked, attemptHash: 'f'.repeat(64) }]);
}

/** A word about something that is open, or a grant that is taken back. */
function say(history: History, random: () => number): void {
  const { open, grants } = history.run.approvals;
  const grant = [...grants.values()].at(-1);
  const waiting = [...open.values()][Math.floor(random() * open.size)];
  const chance = random();
  const word = waiting === undefined ? undefined : wordAbout(waiting.ask, chance);
  const revoked = grant === undefined ? undefined : ({ verb: 'REJECT', approvalId: grant.approvalId } as const);
  const action: PersonsWord | undefined = chance > 0.7 ? (revoked ?? word) : word;
  if (action === undefined) return;
  history.decide([{ kind: 'verb', id: `w${history.run.sequence}`, by: ANNA, action }]);
}

function wordAbout({ approvalId, kind }: Ask, chance: number): PersonsWord {
  if (kind === 'question') {
    return chance < 0.7 ? { verb: 'ANSWER', approvalId, text: 'port 8443' } : { verb: 'REJECT', approvalId };
  }
  if (chance < 0.25) return { verb: 'APPROVE', approvalId, grantMs: 120_000, note: 'go on' };
  if (chance < 0.5) return { verb: 'APPROVE', approvalId };
  if (chance < 0.7) {
    return { verb: 'APPROVE', approvalId, command: { tool: 'EXEC_CLI', arguments: { command: 'true' } } };
  }
  return { verb: 'REJECT', approvalId, note: 'not now' };
}
