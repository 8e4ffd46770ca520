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
import { untilAnswered, withBus, withSignedBus } from '../../bus/index.js';
import {
  badInput,
  cleanLine,
  EXIT,
  momentText,
  tell,
  typedLine,
  type CliContext,
  type ExitCode,
  type SaidOption,
} from '../../terminal/index.js';
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
  show(context, inbox, words);
  return code;
}

function show(context: CliContext, { entries, more, unseen, matching, ...counts }: Inbox, words: AttentionWords): void {
  const { terminal } = context;
  const { kind, run, device, all, limit } = words;
  if (entries.length > 0) terminal.out(attentionText(entries, terminal));
  for (const line of unseenText(unseen)) terminal.err(line);
  const last = entries.at(-1);
  if (more && last !== undefined) {
    const options: SaidOption[] = [
      ['kind', kind.length === 0 ? undefined : kind.join(',')],
      ['run', run],
      ['device', device],
      ['all', all === true ? true : undefined],
      ['limit', limit],
      ['before', last.id],
    ];
    terminal.err(`there are older ones: ${typedLine(context, 'attention', { options })}`);
  }
  const isPart = kind.length > 0 || run !== undefined || device !== undefined;
  // Nobody says "none" of what could not be seen.
  if (unseen.length > 0 && counts.open + counts.taken === 0) return;
  terminal.err(isPart && matching !== undefined ? attentionTotal(matching, counts) : attentionTotal(counts));
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

export function takeEntries(context: CliContext, ids: readonly string[], timeoutMs: number): Promise<ExitCode> {
  return say(context, ids, {
    timeoutMs,
    sayOne: (nc, said, options) => query(nc, 'logging', 'attention-take', said, options),
  });
}

export async function settleEntries(
  context: CliContext,
  ids: readonly string[],
  { reason, timeoutMs }: { readonly reason: string; readonly timeoutMs: number },
): Promise<ExitCode> {
  const parsed = parseWith(SettleReason, reason);
  if (!parsed.ok) throw badInput(`--reason ${parsed.issues.map(({ message }) => message).join('; ')}.`);
  return say(context, ids, {
    timeoutMs,
    sayOne: (nc, said, options) => query(nc, 'logging', 'attention-settle', { ...said, reason: parsed.value }, options),
  });
}

interface Said {
  readonly id: string;
  readonly attentionId: AttentionId;
}

interface Saying {
  /** How long to go on trying, for each. */
  readonly timeoutMs: number;
  readonly sayOne: (nc: NatsConnection, said: Said, options: { readonly timeoutMs: number }) => Promise<AttentionWord>;
}

/** All of them are known before the first is said. Who hears no answer about one is told whether it may have been recorded. */
function say(
  context: CliContext,
  beginnings: readonly string[],
  { timeoutMs: forMs, sayOne }: Saying,
): Promise<ExitCode> {
  const { leaving = () => {}, json, terminal } = context;
  const work = async (nc: NatsConnection): Promise<ExitCode> => {
    leaving('Nothing was done.');
    const ids: AttentionId[] = [];
    for (const beginning of beginnings) ids.push(await entryId(context, nc, { beginning, forMs }));
    const words: AttentionWord[] = [];
    for (const attentionId of ids) {
      const said = { id: ulid(context.now()), attentionId };
      const put = (timeoutMs: number): Promise<AttentionWord> => {
        leaving(`Whether it was recorded of ${attentionId} is not known; to say it again does no harm.`);
        return sayOne(nc, said, { timeoutMs });
      };
      const unheard = (): void => leaving(`Nothing was done about ${attentionId}.`);
      const word = await untilAnswered(context, put, { forMs, unheard });
      words.push(word);
      if (!json) terminal.out(wordText(word));
    }
    leaving('');
    return tell(context, { words });
  };
  return withSignedBus(context, work, { silentMsMin: forMs });
}

interface Beginning {
  readonly beginning: string;
  readonly forMs: number;
}

/** The one entry whose id begins so. */
async function entryId(context: CliContext, nc: NatsConnection, { beginning, forMs }: Beginning): Promise<AttentionId> {
  const whole = AttentionId.safeParse(beginning);
  if (whole.success) return whole.data;
  const asked = parseWith(QUERIES.logging.attention.request, { id: beginning, all: true, limit: 2 });
  if (!asked.ok) throw badInput(`"${cleanLine(beginning)}" ${asked.issues.map(({ message }) => message).join('; ')}.`);
  const look = (timeoutMs: number): Promise<Inbox> => query(nc, 'logging', 'attention', asked.value, { timeoutMs });
  const { entries } = await untilAnswered(context, look, { forMs });
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
