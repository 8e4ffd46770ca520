import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { failPlainly } from './model-server-respond.js';
import type { PlainFault } from './model-server-script.js';

/** Embeddings that a client asked for. */
export interface EmbeddingsRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly model: string;
    readonly input: readonly string[];
    readonly dimensions?: number;
    readonly encoding_format?: string;
  };
}

/** Vectors, one per text; a body as it is, however wrong; or how it fails. */
export type EmbeddingsReply = readonly (readonly number[])[] | { readonly body: unknown } | PlainFault;

/** What vectors are made by: from the request, and from how many came before it. */
export type EmbeddingsScript = (request: EmbeddingsRequest, index: number) => EmbeddingsReply;

export function respondEmbeddings(
  response: ServerResponse,
  { headers, body }: EmbeddingsRequest,
  reply: EmbeddingsReply,
): void {
  if ('fault' in reply) return failPlainly(response, headers, reply);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify('body' in reply ? reply.body : embeddingsOf(body, reply)));
}

/** Four characters are a token here: easy to check in a test. */
function embeddingsOf({ model, input }: EmbeddingsRequest['body'], vectors: readonly (readonly number[])[]): object {
  const tokens = Math.ceil(input.join('').length / 4);
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  return { object: 'list', model, data, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}
