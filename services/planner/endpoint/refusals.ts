/** An answer of HTTP before any tool was asked, with a body in the form of JSON-RPC, as the protocol wants it. */
export interface HttpRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Code of an error that only says what the status says. */
const TRANSPORT = -32_000;
const PARSE = -32_700;
const INVALID = -32_600;
const INTERNAL = -32_603;

/** Everything that the endpoint refuses by itself. `error` and `error_description` are those of RFC 6750. */
export const refusals = {
  host: () => refusal(403, 'The Host header names no place of this server; add it to ORRERY_MCP_HOSTS.'),
  origin: () => refusal(403, 'Pages of this Origin may not use this server; add its host to ORRERY_MCP_HOSTS.'),
  path: () => refusal(404, 'There is nothing here; the path is /mcp/<run id>.'),
  noToken: () => challenge(401, 'A token is needed: Authorization: Bearer <token>, see "orrery mcp token".'),
  badToken: (why: string) => challenge(401, why, 'invalid_token'),
  otherRun: () => challenge(403, 'The token is for another run.', 'insufficient_scope'),
  access: () =>
    challenge(403, 'The token lets read only; this tool needs one with access "edit".', 'insufficient_scope'),
  method: () => refusal(405, 'This server keeps no sessions and opens no streams: only POST.', { allow: 'POST' }),
  busy: () => later('Too many requests are in work; try again.'),
  later,
  tooLarge: (bytesMax: number) => refusal(413, `A request may have ${bytesMax} bytes.`),
  json: () => refusal(400, 'The body is no JSON.', {}, PARSE),
  batch: () => refusal(400, 'Batches are no part of the protocol any more: send one message per request.', {}, INVALID),
  fault: () => refusal(500, 'The server could not do it; look at its log.', {}, INTERNAL),
} as const;

function later(why: string): HttpRefusal {
  return refusal(503, why, { 'retry-after': '1' });
}

function challenge(status: number, message: string, error?: string): HttpRefusal {
  const said = error === undefined ? '' : `, error="${error}", error_description="${quotable(message)}"`;
  return refusal(status, message, { 'www-authenticate': `Bearer realm="orrery"${said}` });
}

/** What RFC 6750 allows in a description. */
function quotable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]|["\\]/gu, '');
}

function refusal(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  code = TRANSPORT,
): HttpRefusal {
  return { status, headers, body: JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }) };
}
