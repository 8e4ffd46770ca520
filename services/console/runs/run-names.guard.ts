import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { LATEST_RUN, runMeant, runsToFind, type RunSummary } from '#proto';
import { callerOf, isRead, RefusedError, type CalledRequest } from '../http/index.js';
import type { RunVerbs } from './run-verbs.client.js';

const OF_RUN = /^\/v1\/runs\/[^/]+/u;

type Routed = CalledRequest & { readonly path: string; readonly params: Record<string, string> };

/**
 * Puts the id in the place of the beginning of one, or of the word for the latest run, before anything is shown, done or recorded of it.
 * The answer says by `Content-Location` (RFC 9110, 8.7) where the same is found for ever.
 */
export class RunNamesGuard implements CanActivate {
  readonly #verbs: RunVerbs;

  constructor(verbs: RunVerbs) {
    this.#verbs = verbs;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Routed>();
    const { path, params, method } = request;
    const { id: word } = params;
    const wanted = word === undefined || !OF_RUN.test(path) ? undefined : runsToFind(word);
    if (word === undefined || wanted === undefined) return true;
    const { runs } = await this.#verbs.ask('runs', wanted, callerOf(request));
    const runId = runMeant(word, runs);
    if (runId === undefined && runs.length > 0) throw refused(ambiguous(word, runs));
    // What no run begins with is refused by who would serve it.
    if (runId === undefined) return true;
    if (word === LATEST_RUN && !isRead(method)) throw refused(forLooking(runId));
    params['id'] = runId;
    http.getResponse<ServerResponse>().setHeader('Content-Location', path.replace(OF_RUN, `/v1/runs/${runId}`));
    return true;
  }
}

const forLooking = (runId: string): string =>
  `"${LATEST_RUN}" is for reading only, since somebody may ask for a run meanwhile. It is ${runId} now.`;

const ambiguous = (word: string, runs: readonly RunSummary[]): string =>
  `Several runs begin with ${word}: ${runs.map(({ runId }) => runId).join(', ')}.`;

function refused(message: string): RefusedError {
  return new RefusedError({ code: 'INVALID_REQUEST', message, issues: [{ path: 'id', message }] });
}
