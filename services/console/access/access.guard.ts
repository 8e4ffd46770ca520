import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Logger } from 'pino';
import { searchAccess } from '#libs/messaging';
import { RunId, Sha256, TaskId, type ActionName } from '#proto';
import { Needs, type CalledRequest } from '../http/index.js';
import { peerOf, type AccessDesk, type AccessReading } from './access-desk.adapter.js';
import { READINGS } from './readings.js';

type Routed = CalledRequest & {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
};

/**
 * Every route that shows what is recorded of a run goes through here, and is served when the record of it is stored. What changes something
 * is not held up: the proof of it is kept with what came of it.
 */
export class AccessGuard implements CanActivate {
  readonly #reflector = new Reflector();
  readonly #desk: AccessDesk;
  readonly #logger: Logger;

  constructor(desk: AccessDesk, logger: Logger) {
    this.#desk = desk;
    this.#logger = logger;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Routed>();
    const { caller, params, query } = request;
    if (caller === undefined) return true;
    const peer = peerOf(request);
    if (request.headers.authorization !== undefined) {
      const used = this.#desk.uses(caller, peer);
      if (request.method === 'GET') await used;
      else used.catch((err: unknown) => this.#logger.warn({ err }, 'the use of a token could not be recorded'));
    }
    const needs = this.#reflector.get(Needs, context.getHandler());
    const what = READINGS[needs as ActionName];
    const reading = what === 'SEARCHED' ? searchAccess(query) : readingOf(what, params, query);
    if (reading !== undefined) await this.#desk.reads(caller, reading, peer);
    return true;
  }
}

/** Nothing of what names no run: it is refused by who would serve it. */
function readingOf(
  what: AccessReading['what'] | undefined,
  params: Routed['params'],
  query: Routed['query'],
): AccessReading | undefined {
  const artifact = Sha256.safeParse(params['sha256']).data;
  if (what !== undefined && artifact !== undefined) return { what, artifact };
  const runId = RunId.safeParse(params['id']).data;
  if (what === undefined || runId === undefined) return undefined;
  const taskId = TaskId.safeParse(query['task']).data;
  return { what, runId, ...(taskId === undefined ? {} : { taskId }) };
}
