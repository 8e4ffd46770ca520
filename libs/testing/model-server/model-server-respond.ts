import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelServerFault, ModelServerReply, ModelServerRequest, PlainFault } from './model-server-script.js';

const PIECE_CHARS = 24;

/** Answers one chat completion, in the form it was asked in. */
export async function respond(
  response: ServerResponse,
  request: ModelServerRequest,
  reply: ModelServerReply,
): Promise<void> {
  if (typeof reply === 'string') return complete(response, request, { text: reply });
  if ('json' in reply) return complete(response, request, { text: JSON.stringify(reply.json) });
  return failLike(response, request, reply);
}

async function failLike(response: ServerResponse, request: ModelServerRequest, fault: ModelServerFault): Promise<void> {
  switch (fault.fault) {
    case 'status':
    case 'hang':
    case 'reset':
    case 'garbage':
      return failPlainly(response, request.headers, fault);
    case 'cut':
      await partly(response, request, fault.reply);
      response.socket?.destroy();
      return;
    case 'end-early':
      await partly(response, request, fault.reply);
      response.end();
      return;
    case 'stall':
      return partly(response, request, fault.reply);
    case 'error-in-stream':
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify({ error: { message: fault.message, type: 'server_error' } })}\n\n`);
      return;
    case 'huge':
      return complete(response, request, { text: 'x'.repeat(fault.bytes), pieceChars: 4096 });
    case 'empty':
      return complete(response, request, { text: '' });
    case 'slow':
      return complete(response, request, { text: fault.reply, pieceMs: fault.pieceMs });
    case 'refusal':
      return complete(response, request, { text: '', refusal: fault.message });
    case 'length':
      return complete(response, request, { text: fault.reply, finish: 'length' });
    case 'no-usage':
      return complete(response, request, { text: fault.reply, usage: false });
    default:
      throw new TypeError(`unknown fault: ${JSON.stringify(fault satisfies never)}`);
  }
}

/** Fails in a way that is the same whatever was asked for. */
export function failPlainly(response: ServerResponse, headers: IncomingHttpHeaders, fault: PlainFault): void {
  switch (fault.fault) {
    case 'status':
      return fail(response, headers, fault);
    case 'hang':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'garbage':
      response.writeHead(200, { 'content-type': fault.contentType ?? 'text/html' });
      response.end(fault.body ?? '<html><body>It works!</body></html>');
      return;
    default:
      throw new TypeError(`unknown fault: ${JSON.stringify(fault satisfies never)}`);
  }
}

function fail(
  response: ServerResponse,
  headers: IncomingHttpHeaders,
  fault: Extract<PlainFault, { fault: 'status' }>,
): void {
  const { status, message = `scripted failure ${status}`, retryAfter, echoAuthorization } = fault;
  const said = echoAuthorization === true ? `${message} (authorization: ${String(headers.authorization)})` : message;
  const error = { message: said, type: 'scripted', code: fault.code ?? null, param: fault.param ?? null };
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
  });
  response.end(JSON.stringify({ error }));
}

interface Completion {
  readonly text: string;
  readonly finish?: 'stop' | 'length';
  readonly refusal?: string;
  readonly usage?: false;
  readonly pieceMs?: number;
  readonly pieceChars?: number;
}

async function complete(response: ServerResponse, request: ModelServerRequest, completion: Completion): Promise<void> {
  const { text, finish = 'stop', refusal, pieceMs = 0, pieceChars = PIECE_CHARS } = completion;
  const usage = completion.usage === false ? undefined : usageOf(request, text);
  if (request.body.stream !== true) {
    const message = { role: 'assistant', content: refusal === undefined ? text : null, refusal: refusal ?? null };
    const choices = [{ index: 0, message, finish_reason: finish, logprobs: null }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...envelope(request), object: 'chat.completion', choices, usage }));
    return;
  }
  begin(response);
  if (refusal !== undefined) await send(response, chunk(request, { refusal }));
  for (let at = 0; at < text.length; at += pieceChars) {
    if (pieceMs > 0) await sleep(pieceMs);
    if (response.destroyed) return;
    await send(response, chunk(request, { content: text.slice(at, at + pieceChars) }));
  }
  await send(response, chunk(request, {}, finish));
  if (request.body.stream_options?.include_usage === true && usage !== undefined) {
    await send(response, { ...envelope(request), object: 'chat.completion.chunk', choices: [], usage });
  }
  response.end('data: [DONE]\n\n');
}

/** The first half of a reply. */
async function partly(response: ServerResponse, request: ModelServerRequest, reply: string): Promise<void> {
  const half = reply.slice(0, Math.ceil(reply.length / 2));
  if (request.body.stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length + 1_000 });
    await written(response, JSON.stringify({ ...envelope(request), choices: half }).slice(0, -2));
    return;
  }
  begin(response);
  for (let at = 0; at < half.length; at += PIECE_CHARS) {
    await send(response, chunk(request, { content: half.slice(at, at + PIECE_CHARS) }));
  }
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
}

const send = (response: ServerResponse, event: unknown): Promise<void> =>
  written(response, `data: ${JSON.stringify(event)}\n\n`);

/** Settles also when the client has gone: then nothing is written any more. */
function written(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) resolve();
    else response.write(text, () => resolve());
  });
}

const envelope = ({ body }: ModelServerRequest) => ({ id: 'chatcmpl-scripted', created: 0, model: body.model });

function chunk(request: ModelServerRequest, delta: object, finish: string | null = null) {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { ...envelope(request), object: 'chat.completion.chunk', choices };
}

/** Four characters are a token here: easy to check in a test. */
function usageOf({ body }: ModelServerRequest, text: string) {
  const prompt = Math.ceil(JSON.stringify(body.messages).length / 4);
  const completion = Math.ceil(text.length / 4);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}
