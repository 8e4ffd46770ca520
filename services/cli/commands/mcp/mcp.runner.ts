import { readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { NatsConnection } from '@nats-io/transport-node';
import { busPorts, constellationServer, LiveConstellation, LiveRunDesk, type Access } from '#libs/constellation-mcp';
import { encodeEditGrant, grantIdOf, signEditGrant } from '#libs/keys';
import { LIMITS, type RunId } from '#proto';
import { withSignedBus } from '../../bus/index.js';
import {
  cleanLine,
  badInput,
  messageOf,
  EXIT,
  type ExitCode,
  type CliContext,
  tell,
  momentText,
} from '../../terminal/index.js';
import { homeOf, parseEndpoints } from '../../home/index.js';
import { isKnownRun, unknownRun, runIdFrom } from '../../sources/index.js';

const MINUTE_MS = 60_000;
/** Long enough for one edit on its way, and made anew for each. */
const OWN_GRANT_MS = 5 * MINUTE_MS;
/** What is under way when the input ends may be answered; then it ends. */
const LAST_ANSWERS_MS = 15_000;
/** A message that is longer is no edit. */
const MESSAGE_BYTES_MAX = 2 * LIMITS.requestBytesMax;

/** Where the assistant is. */
export interface Pipes {
  readonly input: Readable;
  readonly output: Writable;
}

/**
 * Serves one run to an assistant over the standard streams. Everything that is for a person goes to standard error.
 * @throws CliError bad input for --json.
 */
export async function serveMcp(
  context: CliContext,
  run: string,
  access: Access,
  { input, output }: Pipes = { input: process.stdin, output: process.stdout },
): Promise<ExitCode> {
  if (context.json) {
    throw badInput('mcp serve takes no --json: what it writes is the Model Context Protocol, which is JSON already.');
  }
  const runId = runIdFrom(run);
  const { now, signal, terminal } = context;
  const work = async (nc: NatsConnection, seed: string): Promise<ExitCode> => {
    await checkKnown(nc, runId);
    // An edit of an assistant is the person's whose key it is, and not read by her: the grant says so.
    const grant = () => {
      const issued = now();
      const [issuedAt, expiresAt] = [instantOf(issued), instantOf(issued + OWN_GRANT_MS)];
      return signEditGrant(seed, { runId, access, issuedAt, expiresAt });
    };
    const ports = busPorts({ nc, runId, seed, grant, now, signal });
    const served = { constellation: new LiveConstellation(ports), run: new LiveRunDesk(ports) };
    const onFault = (error: unknown): void => terminal.err(cleanLine(messageOf(error)));
    const server = constellationServer(served, { access, runId, onFault });
    const transport = new StdioServerTransport(input, output, { maxBufferSize: MESSAGE_BYTES_MAX });
    await server.connect(transport);
    const answers = new OpenAnswers(transport);
    terminal.err(`Run ${runId} is served over standard input and output (${access}).`);
    await ended(input, transport, signal);
    await answers.given(signal);
    await server.close();
    return EXIT.ok;
  };
  return withSignedBus(context, work, { follows: true });
}

export interface TokenOptions {
  readonly access: Access;
  readonly minutes: number;
}

/** A token is made here, with the key of the person who types: nobody is asked, and nobody keeps it. */
export async function printToken(
  context: CliContext,
  run: string,
  { access, minutes }: TokenOptions,
): Promise<ExitCode> {
  const runId = runIdFrom(run);
  const now = context.now();
  const [issuedAt, expiresAt] = [instantOf(now), instantOf(now + minutes * MINUTE_MS)];
  const grant = await withSignedBus(context, async (nc, seed) => {
    await checkKnown(nc, runId);
    return signEditGrant(seed, { runId, access, issuedAt, expiresAt });
  });
  const [id, token] = [grantIdOf(grant), encodeEditGrant(grant)];
  const url = await urlOf(context, runId);
  const { terminal, json } = context;
  if (json) return tell(context, { id, runId, access, expiresAt, url, token });
  terminal.out(`url    ${url ?? `<planner>/mcp/${runId}`}`);
  terminal.out(`token  ${token}`);
  terminal.out(`id     ${id}`);
  const may = access === 'edit' ? 'see and change' : 'see';
  terminal.err(`Until ${momentText(expiresAt)}, whoever has this token may ${may} run ${runId} in your name.`);
  terminal.err(`To end that before: orrery mcp revoke ${id}`);
  return EXIT.ok;
}

async function checkKnown(nc: NatsConnection, runId: RunId): Promise<void> {
  if (!(await isKnownRun(nc, runId))) throw unknownRun(runId);
}

/** Of the system that runs here; null when it is another one whose address nobody has written down. */
async function urlOf({ env }: CliContext, runId: RunId): Promise<string | null> {
  if ((env['ORRERY_NATS_URL'] ?? '') !== '') return null;
  const text = await readFile(homeOf(env).endpointsFile, 'utf8').catch(() => undefined);
  const mcp = text === undefined ? undefined : parseEndpoints(text)?.mcp;
  return mcp === undefined ? null : `${mcp}/${runId}`;
}

/** When the assistant has closed the input, sent what nobody can read, or the process is to end. */
async function ended(input: Readable, transport: Transport, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onclose = transport.onclose;
  Object.assign(transport, {
    onclose: () => {
      onclose?.();
      resolve();
    },
  });
  input.once('end', resolve).once('close', resolve).once('error', resolve);
  signal.addEventListener('abort', () => resolve(), { once: true });
  if (!signal.aborted && !input.readableEnded) await promise;
}

/** The requests that have no answer yet: who pipes a few messages in and closes wants to read what they came to. */
class OpenAnswers {
  readonly #open = new Set<string | number>();
  #none: () => void = () => undefined;

  constructor(transport: Transport) {
    const { onmessage } = transport;
    const send = transport.send.bind(transport);
    const watched: Pick<Transport, 'onmessage' | 'send'> = {
      onmessage: (message, extra) => {
        if ('method' in message && 'id' in message) this.#open.add(message.id);
        onmessage?.(message, extra);
      },
      send: async (message, options) => {
        await send(message, options);
        if (!('method' in message) && message.id !== undefined) this.#answered(message.id);
      },
    };
    Object.assign(transport, watched);
  }

  async given(signal: AbortSignal): Promise<void> {
    if (this.#open.size === 0 || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#none = resolve;
    const timer = setTimeout(resolve, LAST_ANSWERS_MS);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
  }

  #answered(id: string | number): void {
    this.#open.delete(id);
    if (this.#open.size === 0) this.#none();
  }
}

function instantOf(ms: number): string {
  return new Date(ms).toISOString();
}
