import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { query } from '#libs/messaging';
import { ActorId, RunId, type AccessEntry, type AccessKind, type AccessPlace } from '#proto';
import { visibleText } from '#libs/visible';
import { withSignedBus } from '../../bus/index.js';
import { badInput, EXIT, renderTable, tellTable, type CliContext, type ExitCode } from '../../terminal/index.js';
import { ACCESS_COLUMNS } from './access-text.js';

const FOLLOW_MS = 1_000;

export interface AccessWords {
  /** Milliseconds before now. */
  readonly since: number;
  readonly actor?: string;
  readonly run?: string;
  readonly what?: AccessKind;
  readonly follow?: true;
}

/** Who looked at what. What nobody shows on one page is told page by page, in the order in which the bus has stored it. */
export async function access(context: CliContext, words: AccessWords): Promise<ExitCode> {
  const asked = askedIn(words, context.now());
  return withSignedBus(context, async (nc) => {
    const list = new AccessPages(nc, asked);
    if (words.follow === true) return follow(context, list);
    const entries: AccessEntry[] = [];
    do entries.push(...(await list.next()));
    while (list.more && !context.signal.aborted);
    const nothing = 'Nothing of this kind is recorded for that time; see: orrery access --help';
    return tellTable(context, { json: { entries }, rows: entries, nothing, columns: ACCESS_COLUMNS });
  });
}

/** One line each, as they come; asked for again every second. */
async function follow(context: CliContext, list: AccessPages): Promise<ExitCode> {
  const { terminal, json, signal } = context;
  while (!signal.aborted) {
    for (const entry of await list.next()) {
      terminal.out(
        json
          ? visibleText(JSON.stringify(entry))
          : renderTable([entry], ACCESS_COLUMNS, { ...terminal, isTerminal: false }),
      );
    }
    if (!list.more) await sleep(FOLLOW_MS, undefined, { signal }).catch(() => undefined);
  }
  return EXIT.ok;
}

interface Asked {
  readonly since: string;
  readonly of?: ActorId;
  readonly runId?: RunId;
  readonly what?: AccessKind;
}

/** The list, page by page. */
class AccessPages {
  readonly #nc: NatsConnection;
  readonly #asked: Asked;
  #after: AccessPlace | undefined;
  /** There is more than was told. */
  more = true;

  constructor(nc: NatsConnection, asked: Asked) {
    this.#nc = nc;
    this.#asked = asked;
  }

  async next(): Promise<readonly AccessEntry[]> {
    const request = { ...this.#asked, ...(this.#after === undefined ? {} : { after: this.#after }) };
    const { entries, after, more } = await query(this.#nc, 'registry', 'access', request);
    this.#after = after;
    this.more = more;
    return entries;
  }
}

function askedIn({ since, actor, run, what }: AccessWords, now: number): Asked {
  const of = actor === undefined ? undefined : ActorId.safeParse(actor);
  if (of?.success === false) throw badInput(`--actor ${of.error.issues[0]?.message ?? 'is none'}.`);
  const runId = run === undefined ? undefined : RunId.safeParse(run);
  if (runId?.success === false) throw badInput(`--run: ${runId.error.issues[0]?.message ?? 'is none'}.`);
  return {
    since: new Date(now - since).toISOString(),
    ...(of === undefined ? {} : { of: of.data }),
    ...(runId === undefined ? {} : { runId: runId.data }),
    ...(what === undefined ? {} : { what }),
  };
}
