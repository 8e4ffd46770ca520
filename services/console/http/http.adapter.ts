import type { BodyRequest, HttpMiddleware } from './admission.adapter.js';
import { judge, type GateRules } from './gate.js';
import { RefusedError } from './refusal.js';
import { refuseUnread } from './send.js';

/** Nothing here is a page: nothing may be loaded, framed, sniffed, stored or referred to. */
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
} as const;

/** The first thing that sees a request; what it refuses is not read any further. */
export function gate(rules: GateRules): HttpMiddleware {
  return (request: BodyRequest, response, next) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const { host, origin, authorization } = request.headers;
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const verdict = judge({ path, host, origin, authorization }, rules);
    if (verdict.kind === 'enter') {
      request.caller = verdict.caller;
      return next();
    }
    if (verdict.status === 401) response.setHeader('WWW-Authenticate', 'Bearer realm="orrery"');
    const { status, message } = verdict;
    refuseUnread(response, new RefusedError({ code: 'UNAUTHORIZED', message }, status));
  };
}
