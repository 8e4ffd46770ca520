import type { ServerResponse } from 'node:http';
import { Controller, createParamDecorator, Get, HttpCode, Inject, Post, type ExecutionContext } from '@nestjs/common';
import {
  callerOf,
  mustDo,
  Needs,
  numberIn,
  optionalJsonObject,
  RefusedError,
  valid,
  type CalledRequest,
  type SaidInAddress,
} from '../http/index.js';
import { RunVerbs } from '../runs/index.js';
import { namesIn, QUESTION_ROUTES, queryOf, type QuestionRoute } from './question-routes.js';
import { Questions } from './questions.client.js';

/** A request as it came, and where it is answered. */
interface Call {
  readonly request: CalledRequest & {
    readonly params: Readonly<Record<string, string>>;
    readonly query: SaidInAddress;
    /** The path of the route that was found, with its colons. */
    readonly route: { readonly path: string };
  };
  readonly response: ServerResponse;
}

const Called = createParamDecorator((_: unknown, context: ExecutionContext): Call => {
  const http = context.switchToHttp();
  return { request: http.getRequest(), response: http.getResponse() };
});

const BELOW = 'v1';
/** As the framework writes them. */
const routesOf = (method: QuestionRoute['method']): ReadonlyMap<string, QuestionRoute> =>
  new Map(
    QUESTION_ROUTES.filter((route) => route.method === method).map((route) => [
      route.path.replaceAll(/\{(\w+)\}/gu, ':$1'),
      route,
    ]),
  );
const READ = routesOf('get');
const SAID = routesOf('post');

/** What services are asked for as it is: one route for each question, of the table of them. */
@Controller(BELOW)
export class QuestionsController {
  readonly #questions: Questions;
  readonly #verbs: RunVerbs;

  constructor(@Inject(Questions) questions: Questions, @Inject(RunVerbs) verbs: RunVerbs) {
    this.#questions = questions;
    this.#verbs = verbs;
  }

  @Get([...READ.keys()])
  @Needs('said')
  read(@Called() { request }: Call): Promise<unknown> {
    const route = routeIn(READ, request);
    mustDo(callerOf(request), route.asks);
    const { limit, ...more } = request.query;
    return this.#ask(route, request, { ...more, ...numberIn('limit', limit) });
  }

  @Post([...SAID.keys()])
  @Needs('said')
  @HttpCode(200)
  say(@Called() { request, response }: Call): Promise<unknown> {
    const route = routeIn(SAID, request);
    mustDo(callerOf(request), route.asks);
    const said = optionalJsonObject(request.body);
    if (route.isOrder !== true) return this.#ask(route, request, said);
    const id = this.#verbs.idOf(request.headers['idempotency-key']);
    // In any case: with it the same may be sent again.
    response.setHeader('Idempotency-Key', id);
    return this.#ask(route, request, said, { id });
  }

  #ask(route: QuestionRoute, request: Call['request'], said: object, key: object = {}): Promise<unknown> {
    const { asks, named = {}, fixed = {}, isSlow } = route;
    const inAddress = namesIn(route).map((name) => [named[name] ?? name, request.params[name]] as const);
    const elsewhere = { ...fixed, ...Object.fromEntries(inAddress), ...key };
    const twice = Object.keys(said).find((field) => field in elsewhere);
    if (twice !== undefined) {
      const issue = { path: twice, message: 'unknown field' };
      throw new RefusedError({ code: 'INVALID_REQUEST', message: `${twice}: unknown field`, issues: [issue] });
    }
    const asked = valid(queryOf(asks).request, { ...said, ...elsewhere });
    return this.#questions.ask(asks, asked, callerOf(request), isSlow);
  }
}

function routeIn(routes: ReadonlyMap<string, QuestionRoute>, { route: { path } }: Call['request']): QuestionRoute {
  const route = routes.get(path.slice(`/${BELOW}/`.length));
  if (route === undefined) throw new Error(`nothing is asked at ${path}`);
  return route;
}
