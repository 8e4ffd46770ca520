import type { NatsConnection } from '@nats-io/transport-node';
import { ulid } from 'ulid';
import { query, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import {
  AttentionId,
  parseWith,
  QUERIES,
  sentenceOf,
  SettleReason,
  type AttentionKind,
  type AttentionWord,
} from '#proto';
import { withBus, withSignedBus } from '../../bus/index.js';
import { badInput, cleanLine, EXIT, momentText, tell, type CliContext, type ExitCode } from '../../terminal/index.js';
import { shownAgain } from '../../live/index.js';
import { attentionText, attentionTotal, unseenText } from '../../text/index.js';

export interface AttentionWords {
  readonly kind: readonly AttentionKind[];
  readonly run?: string;
  readonly device?: string;
  readonly all?: boolean;
  readonly before?: string;
  readonly limit: number;
  readonly watch?: boolean;
}

type Inbox = QueryAnswer<'logging', 'attention'>;

/** What needs somebody, newest first. Exit code 1 when a part of it could not be seen. */
export function listAttention(context: CliContext, { watch = false, ...words }: AttentionWords): Promise<ExitCode> {
  return shownAgain(context, watch, (shown) => showInbox(shown, words));
}

async function showInbox(context: CliContext, words: AttentionWords): Promise<ExitCode> {
  const asked = askedIn(words);
  const inbox = await withBus(context, (nc) => query(nc, 'logging', 'attention', asked));
  const code = inbox.unseen.length === 0 ? EXIT.ok : EXIT.failure;
  if (context.json) {
    tell(context, inbox);
    return code;
  }
  show(context, inbox);
  return code;
}

function show({ terminal }: CliContext, { entries, more, unseen, ...counts }: Inbox): void {
  if (entries.length > 0) terminal.out(attentionText(entries, terminal));
  for (const line of unseenText(unseen)) terminal.err(line);
  const last = entries.at(-1);
  if (more && last !== undefined) terminal.err(`there are older ones: --before ${last.id}`);
  // Nobody says "none" of what could not be seen.
  if (unseen.length === 0 || counts.open + counts.taken > 0) terminal.err(attentionTotal(counts));
}

/** Throws CliError with the option that cannot be meant. */
function askedIn({ kind, run, device, all, ...words }: AttentionWords): QueryRequest<'logging', 'attention'> {
  const asked = {
    ...words,
    ...(kind.length > 0 && { kind }),
    ...(run !== undefined && { runId: run }),
    ...(device !== undefined && { deviceId: device }),
    ...(all && { all }),
  };
  const parsed = parseWith(QUERIES.logging.attention.request, asked);
  if (parsed.ok) return parsed.value;
  throw badInput(parsed.issues.map((issue) => `--${sentenceOf(issue)}`).join('; '));
}

export function takeEntries(context: CliContext, ids: readonly string[]): Promise<ExitCode> {
  return say(context, ids, (nc, said) => query(nc, 'logging', 'attention-take', said));
}

export async function settleEntries(context: CliContext, ids: readonly string[], reason: string): Promise<ExitCode> {
  const parsed = parseWith(SettleReason, reason);
  if (!parsed.ok) throw badInput(`--reason ${parsed.issues.map(({ message }) => message).join('; ')}.`);
  return say(context, ids, (nc, said) => query(nc, 'logging', 'attention-settle', { ...said, reason: parsed.value }));
}

interface Said {
  readonly id: string;
  readonly attentionId: AttentionId;
}

/** All of them are known before the first is said. */
function say(
  context: CliContext,
  beginnings: readonly string[],
  sayOne: (nc: NatsConnection, said: Said) => Promise<AttentionWord>,
): Promise<ExitCode> {
  return withSignedBus(context, async (nc) => {
    const ids: AttentionId[] = [];
    for (const beginning of beginnings) ids.push(await entryId(nc, beginning));
    const words: AttentionWord[] = [];
    for (const attentionId of ids) words.push(await sayOne(nc, { id: ulid(context.now()), attentionId }));
    return tell(context, { words }, words.map(wordText).join('\n'));
  });
}

/** The one entry whose id begins so. */
async function entryId(nc: NatsConnection, beginning: string): Promise<AttentionId> {
  const whole = AttentionId.safeParse(beginning);
  if (whole.success) return whole.data;
  const asked = parseWith(QUERIES.logging.attention.request, { id: beginning, all: true, limit: 2 });
  if (!asked.ok) throw badInput(`"${cleanLine(beginning)}" ${asked.issues.map(({ message }) => message).join('; ')}.`);
  const { entries } = await query(nc, 'logging', 'attention', asked.value);
  const [found, other] = entries;
  if (found === undefined)
    throw badInput(`Nothing needs anybody whose id begins with ${beginning}; see: orrery attention`);
  if (other !== undefined) throw badInput(`More than one id begins with ${beginning}: ${found.id}, ${other.id}, ...`);
  return found.id;
}

function wordText({ attentionId, state, by, at, changed, from }: AttentionWord): string {
  if (state === 'taken') return cleanLine(`${attentionId} is taken on by ${by.id}${from ? `, from ${from.id}` : ''}`);
  return cleanLine(
    `${attentionId} ${changed ? 'is' : 'was'} settled by ${by.id}${changed ? '' : ` at ${momentText(at)}`}`,
  );
}
