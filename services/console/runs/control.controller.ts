import { Controller, createParamDecorator, HttpCode, Inject, Post, type ExecutionContext } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { RunId, VERB_PATHS, VERB_ROWS, type VerbPath } from '#proto';
import {
  callerOf,
  type CalledRequest,
  jsonObject,
  mustDo,
  Needs,
  optionalJsonObject,
  valid,
  RefusedError,
} from '../http/index.js';
import { RunVerbs, type VerbResult } from './run-verbs.client.js';

/** A request about a run, as it came, and where it is answered. */
interface Call {
  readonly request: CalledRequest & {
    readonly params: Readonly<Record<string, string>>;
    /** The path of the route that was found, with its colons. */
    readonly route: { readonly path: string };
  };
  readonly response: ServerResponse;
}

const Called = createParamDecorator((_: unknown, context: ExecutionContext): Call => {
  const http = context.switchToHttp();
  return { request: http.getRequest(), response: http.getResponse() };
});

/** What is said at which path, as the framework writes it. */
const ROUTES: ReadonlyMap<string, VerbPath> = new Map(
  VERB_PATHS.map((route) => [route.path.replaceAll(/\{(\w+)\}/gu, ':$1'), route]),
);
const RUNS = 'v1/runs/:id';

/** What people and programs do to a run that is there: one route for each verb, of the table of verbs. */
@Controller(RUNS)
export class ControlController {
  readonly #verbs: RunVerbs;

  constructor(@Inject(RunVerbs) verbs: RunVerbs) {
    this.#verbs = verbs;
  }

  /** Every answer names the id under which the same thing may be said again. */
  @Post([...ROUTES.keys()])
  @Needs('said')
  @HttpCode(200)
  async say(@Called() { request, response }: Call): Promise<VerbResult> {
    const route = ROUTES.get(request.route.path.slice(`/${RUNS}/`.length));
    if (route === undefined) throw new Error(`no verb is said at ${request.route.path}`);
    const caller = callerOf(request);
    mustDo(caller, route.verb);
    const { id: run, ...named } = request.params;
    const fields = { ...saidIn(request.body, route), ...named };
    const runId = valid(RunId, run);
    const id = this.#verbs.idOf(request.headers['idempotency-key']);
    response.setHeader('Idempotency-Key', id);
    const result = await this.#verbs.send({ runId, verb: route.verb, fields, id, caller });
    if (result.runId !== undefined) response.setHeader('Location', `/v1/runs/${result.runId}`);
    return result;
  }
}

/** The fields that a body says. */
function saidIn(given: unknown, { verb, body, without = [] }: VerbPath): object {
  const said = body?.required === true ? jsonObject(given) : optionalJsonObject(given);
  const unsaid = without.find((field) => field in said);
  if (unsaid !== undefined) {
    const issue = { path: unsaid, message: 'unknown field' };
    throw new RefusedError({ code: 'INVALID_REQUEST', message: `${unsaid}: unknown field`, issues: [issue] });
  }
  if (body !== undefined) return body.field === undefined ? said : { [body.field]: said };
  const [path] = Object.keys(said);
  if (path === undefined) return said;
  const message = `A ${VERB_ROWS[verb].command.name} says nothing in its body.`;
  throw new RefusedError({ code: 'INVALID_REQUEST', message, issues: [{ path, message: 'unknown field' }] });
}
