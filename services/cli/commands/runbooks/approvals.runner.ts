import type { NatsConnection } from '@nats-io/transport-node';
import { ulid } from 'ulid';
import { callText, planContent } from '#libs/constellation';
import { hashCommit } from '#libs/event-log';
import { query, type QueryAnswer } from '#libs/messaging';
import { visibleLine } from '#libs/visible';
import {
  type CommandCall,
  type Json,
  type PolicyVerdict,
  type RunbookInfo,
  type TaskConstellation,
  type TaskStar,
} from '#proto';
import { askRegistry, orderOfRegistry, withSignedBus, type Desk } from '../../bus/index.js';
import { sentencesOf } from '../../files/index.js';
import {
  badInput,
  cleanLine,
  tell,
  tellTable,
  visibleLines,
  type CliContext,
  type ExitCode,
  dayText,
  momentText,
} from '../../terminal/index.js';
import { parametersFrom, runbookName } from './runbooks.runner.js';

export interface ApproveRunbookOptions {
  readonly yes?: boolean | undefined;
  /** Only when the content is still that one. */
  readonly content?: string | undefined;
  readonly days: number;
  readonly revoke?: string | undefined;
  readonly reason?: string | undefined;
}

const DAY_MS = 86_400_000;

/** A command of a plan, and what the policy of the running system says about it where it would run. */
interface Judged {
  readonly taskId: string;
  readonly what: 'command' | 'verify';
  readonly on: TaskStar['target'];
  readonly command: CommandCall;
  readonly verdict: PolicyVerdict;
}

/** What an approver looks at before it is his word. */
interface Looked {
  readonly runbook: RunbookInfo;
  readonly contentHash: string;
  readonly commands: readonly Judged[];
  /** Tasks that are left to an agent: what it comes up with is asked about in each run. */
  readonly inWords: readonly string[];
}

/** Shows what a runbook would run with these parameters and, with --yes, approves exactly that; or takes such a word back. */
export async function approveRunbook(
  context: CliContext,
  name: string | undefined,
  words: readonly string[],
  options: ApproveRunbookOptions,
): Promise<ExitCode> {
  if (options.revoke !== undefined) {
    if (name !== undefined) throw badInput('--revoke takes the id of an approval, and no runbook beside it.');
    return revoke(context, options.revoke, options.reason);
  }
  if (name === undefined) throw badInput('Which runbook? Name one; "orrery runbooks" lists them.');
  const request = { name: runbookName(name), parameters: parametersFrom(words) };
  return withSignedBus(context, async (nc) => {
    const looked = await look(nc, request);
    if (options.content !== undefined && options.content !== looked.contentHash) {
      throw badInput(`--content: the plan is ${looked.contentHash} by now; look at it again.`);
    }
    if (!context.json) context.terminal.out(lookedText(looked));
    if (options.yes !== true) return shown(context, looked, [name, ...words]);
    return approve(context, { nc, now: context.now }, { ...looked, ...request, days: options.days });
  });
}

async function look(
  nc: NatsConnection,
  request: { readonly name: string; readonly parameters: Record<string, Json> },
): Promise<Looked> {
  const { runbook, constellation, issues } = await query(nc, 'planner', 'runbook', request);
  if (constellation === null) {
    throw badInput(`The runbook ${runbook.name} makes no plan of that: ${sentencesOf(issues)}.`, issues);
  }
  const commands: Judged[] = [];
  for (const one of commandsOf(constellation)) {
    const where = 'device' in one.on ? { deviceId: one.on.device } : {};
    const { verdict } = await query(nc, 'device-agent', 'explain', { ...where, command: one.command });
    commands.push({ ...one, verdict });
  }
  const inWords = constellation.tasks.filter(({ command }) => command === undefined).map(({ id }) => id);
  return { runbook, contentHash: hashCommit(planContent(constellation)), commands, inWords };
}

function commandsOf({ tasks }: TaskConstellation): Omit<Judged, 'verdict'>[] {
  return tasks.flatMap(({ id: taskId, target: on, command, verify }) => [
    ...(command === undefined ? [] : [{ taskId, what: 'command' as const, on, command }]),
    ...(verify?.command === undefined ? [] : [{ taskId, what: 'verify' as const, on, command: verify.command }]),
  ]);
}

const asks = ({ verdict }: Judged): boolean => verdict.decision === 'approve';

function lookedText({ runbook, contentHash, commands, inWords }: Looked): string {
  const asked = commands.filter(asks);
  const denied = commands.filter(({ verdict }) => verdict.decision === 'deny');
  const quiet = commands.length - asked.length - denied.length;
  return [
    `${cleanLine(runbook.name)}, file ${runbook.hash}`,
    `content ${contentHash}`,
    ...asked.flatMap((one) => ['', ...commandLines('would ask', one)]),
    ...denied.flatMap((one) => ['', ...commandLines('never runs', one)]),
    '',
    `${asked.length} would ask, ${denied.length} never run, ${quiet} run unasked`,
    ...(inWords.length === 0
      ? []
      : [`left to an agent, and asked about in each run: ${inWords.map((id) => cleanLine(id)).join(', ')}`]),
  ].join('\n');
}

/** The command to the letter: nothing may hide in it. */
function commandLines(kind: string, { taskId, what, on, command, verdict }: Judged): string[] {
  const where = 'device' in on ? on.device : `any ${JSON.stringify(on)}`;
  const { class: of, rule, reasons } = verdict;
  return [
    `${kind}: ${cleanLine(taskId)}${what === 'verify' ? ', its check' : ''} on ${cleanLine(where)} (${of}, ${cleanLine(rule)})`,
    ...visibleLines(callText(command)).map((line) => `    ${line}`),
    ...reasons.map((reason) => `  because ${visibleLine(reason)}`),
  ];
}

function shown(context: CliContext, looked: Looked, words: readonly string[]): ExitCode {
  const { runbook, ...seen } = looked;
  const again = `orrery runbooks approve ${words.map((word) => cleanLine(word)).join(' ')} --content ${looked.contentHash} --yes`;
  if (!context.json) context.terminal.err(`\nNothing is approved yet. Approve exactly this with: ${again}`);
  return tell(context, { approved: false, name: runbook.name, fileHash: runbook.hash, ...seen });
}

async function approve(
  context: CliContext,
  desk: Desk,
  {
    runbook,
    parameters,
    contentHash,
    commands,
    inWords,
    days,
  }: Looked & { parameters: Record<string, Json>; days: number },
): Promise<ExitCode> {
  const approvalId = ulid(context.now());
  const expiresAt = new Date(context.now() + days * DAY_MS).toISOString();
  const about = { name: runbook.name, fileHash: runbook.hash, parameters };
  await orderOfRegistry(desk, 'content-approve', { id: approvalId, contentHash, about, expiresAt });
  return tell(
    context,
    { approved: true, approvalId, contentHash, expiresAt, ...about, commands, inWords },
    `approved as ${approvalId} until ${momentText(expiresAt)}; take it back with: orrery runbooks approve --revoke ${approvalId}`,
  );
}

async function revoke(context: CliContext, approvalId: string, reason: string | undefined): Promise<ExitCode> {
  const order = { approvalId, ...(reason !== undefined && { reason }) };
  const changed = await withSignedBus(context, (nc) =>
    orderOfRegistry({ nc, now: context.now }, 'content-revoke', order),
  );
  const words = changed ? 'counts no more' : 'was revoked already';
  return tell(context, { approvalId, changed }, `${cleanLine(approvalId)} ${words}`);
}

type Listed = QueryAnswer<'registry', 'content-approvals'>['approvals'][number];

/** Who has approved what, and what of it counts. */
export async function listContentApprovals(context: CliContext): Promise<ExitCode> {
  const { approvals } = await withSignedBus(context, (nc) =>
    askRegistry({ nc, now: context.now }, 'content-approvals', {}),
  );
  return tellTable<Listed>(context, {
    json: { approvals },
    rows: approvals,
    nothing: 'Nothing is approved beforehand; see: orrery runbooks approve --help',
    columns: [
      { title: 'APPROVAL', value: ({ approvalId }) => approvalId },
      { title: 'BY', value: ({ by }) => by.id },
      { title: 'STATE', value: ({ state }) => state },
      { title: 'UNTIL', value: ({ expiresAt }) => dayText(expiresAt) },
      { title: 'CONTENT', value: ({ contentHash }) => contentHash.slice(0, HASH_CHARS) },
      { title: 'FOR', value: ({ about }) => visibleLine(aboutWords(about)) },
    ],
  });
}
const HASH_CHARS = 16;

function aboutWords({ name, parameters = {} }: Listed['about']): string {
  const words = Object.entries(parameters).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  return `${name}${words.join('')}`;
}
