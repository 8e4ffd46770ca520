import { z } from 'zod';
import { ASKED_OF_ALL, QUERIES, type QueryAction } from '#proto';

/** How one question, or one order, is put over HTTP that a service answers as it is. */
export interface QuestionRoute {
  readonly method: 'get' | 'post';
  /** Below `/v1`; in braces the fields of the question that stand in the address. */
  readonly path: string;
  readonly asks: QueryAction;
  readonly what: string;
  /** By the name in braces: the field that is called otherwise in the question. */
  readonly named?: Readonly<Record<string, string>>;
  /** What the address says by itself. */
  readonly fixed?: Readonly<Record<string, null | true>>;
  /** The `Idempotency-Key` is its field `id`. */
  readonly isOrder?: true;
  /** Fields that the address says behind its `?`. */
  readonly said?: readonly string[];
  /** A model may have to answer first. */
  readonly isSlow?: true;
}

const order = (path: string, asks: QueryAction, what: string): QuestionRoute => ({
  method: 'post',
  path,
  asks,
  what,
  isOrder: true,
});

/** What has a room of its own (runs, approvals, attention, search, figures, the word of an administrator) is not here. */
export const QUESTION_ROUTES: readonly QuestionRoute[] = [
  { method: 'get', path: 'work', asks: 'logging.at-work', what: 'What devices work on now' },

  {
    method: 'post',
    path: 'devices',
    asks: 'registry.enroll',
    what: 'Enrol a device: the token that lets it in is in this answer only',
  },
  {
    method: 'post',
    path: 'devices/{id}/revoke',
    asks: 'registry.revoke',
    what: 'End all that lets a device in',
  },
  {
    method: 'post',
    path: 'devices/{id}/hold',
    asks: 'registry.hold',
    named: { id: 'deviceId' },
    what: 'Start nothing new on a device',
  },
  {
    method: 'post',
    path: 'devices/{id}/release',
    asks: 'registry.release',
    named: { id: 'deviceId' },
    what: 'Let a device work again',
  },
  {
    method: 'post',
    path: 'devices/{id}/take-over',
    asks: 'registry.hold',
    named: { id: 'deviceId' },
    fixed: { screen: true },
    what: 'Have the screen of a device: what agents want of it waits',
  },
  {
    method: 'post',
    path: 'devices/{id}/hand-back',
    asks: 'registry.release',
    named: { id: 'deviceId' },
    fixed: { screen: true },
    what: 'Give the screen of a device back to agents, which look again before they act',
  },
  {
    method: 'post',
    path: 'fleet/hold',
    asks: 'registry.hold',
    fixed: { deviceId: null },
    what: 'Start nothing new anywhere',
  },
  {
    method: 'post',
    path: 'fleet/release',
    asks: 'registry.release',
    fixed: { deviceId: null },
    what: 'Let all devices work again, but those that are held by themselves',
  },

  {
    method: 'get',
    path: 'clients',
    asks: 'registry.clients',
    what: 'Clients that send tasks through a gateway, and who was revoked',
  },
  {
    method: 'post',
    path: 'clients',
    asks: 'registry.enroll-client',
    what: 'Let a client send tasks: the token that lets it in is in this answer only',
  },
  {
    method: 'post',
    path: 'clients/{id}/revoke',
    asks: 'registry.revoke',
    what: 'End all that lets a client in',
  },

  { method: 'get', path: 'people', asks: 'registry.people', what: 'Everybody who is known, by id' },
  order('people', 'registry.people-add', 'Make somebody known'),
  order('people/{actorId}/roles', 'registry.people-role', 'Give or take roles'),
  order('people/{actorId}/limits', 'registry.people-limits', 'Say how much a system outside may take'),
  order('people/{actorId}/revoke', 'registry.people-revoke', 'End all keys, tokens and logins of somebody, for good'),
  order(
    'people/{actorId}/keys',
    'registry.people-key',
    'Bind a key of the bus to somebody, or end it; the server of the bus has its own list',
  ),
  order(
    'people/{actorId}/logins',
    'registry.people-login',
    'Bind a login of an identity provider to somebody, or unbind it',
  ),
  order(
    'people/{actorId}/tokens',
    'registry.token-issue',
    'Issue a token; whoever asks makes it, and sends its SHA-256 only',
  ),
  {
    method: 'get',
    path: 'tokens',
    asks: 'registry.tokens',
    said: ['actorId'],
    what: 'Tokens: of everybody, or of one; who is no administrator sees his own',
  },
  order('tokens/{tokenId}/revoke', 'registry.token-revoke', 'End a token'),
  { method: 'get', path: 'grants', asks: 'registry.revoked-grants', what: 'Access tokens that were ended' },
  { method: 'post', path: 'grants/revoke', asks: 'registry.revoke-grants', what: 'End access tokens' },

  { method: 'get', path: 'runbooks', asks: 'planner.runbooks', what: 'Runbooks, with their parameters' },
  {
    method: 'post',
    path: 'runbooks/{name}/plan',
    asks: 'planner.runbook',
    what: 'The plan that a runbook makes of parameters, or what is wrong with them; nothing is run',
  },
  { method: 'post', path: 'match', asks: 'planner.match', what: 'How a goal would be planned; nothing is planned' },
  {
    method: 'get',
    path: 'experiences',
    asks: 'planner.experiences',
    said: ['text', 'limit'],
    what: 'What was learnt, nearest to a text first',
  },
  {
    method: 'post',
    path: 'experiences',
    asks: 'planner.demonstrate',
    isSlow: true,
    what: 'Make an example of what somebody has done by hand',
  },
  { method: 'post', path: 'experiences/{id}/forget', asks: 'planner.forget', what: 'Forget an example' },
  {
    method: 'post',
    path: 'runs/{id}/learn',
    asks: 'planner.learn',
    named: { id: 'runId' },
    isSlow: true,
    what: 'Make an example of a run that has ended well',
  },
  {
    method: 'post',
    path: 'runs/{id}/evaluate',
    asks: 'planner.evaluate',
    named: { id: 'runId' },
    what: 'Have a run that has ended judged; the judgement becomes an event of it',
  },

  {
    method: 'post',
    path: 'policy/explain',
    asks: 'device-agent.explain',
    what: 'What the policy says of a call on a device, and the wall it would get; nothing is run',
  },
  ...(['device-agent', 'planner'] as const).flatMap((service): QuestionRoute[] => [
    {
      method: 'get',
      path: `settings/${service}`,
      asks: `${service}.settings`,
      what: `What each ${service} that has answered works by: policy, prompts, models; nothing secret is in it`,
    },
    {
      method: 'get',
      path: `settings/${service}/prompts/{sha256}`,
      asks: `${service}.prompt`,
      what: `The text of a file of prompts, of each ${service} that has answered; null: it has loaded no such file`,
    },
  ]),
  ...(['orchestrator', 'device-agent', 'planner'] as const).map((service): QuestionRoute => ({
    method: 'post',
    path: `dead-letters/${service}/retry`,
    asks: `${service}.dlq-retry`,
    what: `Hand an input to the ${service} again, after the cause of its dead letter was mended`,
  })),
];

/** The question itself, as its service reads it, and its answer. */
export function queryOf(asks: QueryAction): { readonly request: z.ZodObject; readonly answer: z.ZodType } {
  const [service = '', name = ''] = asks.split('.');
  const queries = QUERIES as Readonly<
    Record<string, Readonly<Record<string, { request: z.ZodType; answer: z.ZodType }>>>
  >;
  const found = queries[service]?.[name];
  if (!(found?.request instanceof z.ZodObject)) throw new Error(`there is no question ${asks}`);
  return { request: found.request, answer: ALL_ANSWERS.get(found.answer) ?? found.answer };
}

/** What every replica answers for itself is one list. */
const ALL_ANSWERS: ReadonlyMap<z.ZodType, z.ZodType> = new Map(
  ASKED_OF_ALL.map((asks): [z.ZodType, z.ZodType] => {
    const { answer } = answerIn(asks);
    return [answer, z.strictObject({ replicas: z.array(answer).min(1) })];
  }),
);

function answerIn(asks: (typeof ASKED_OF_ALL)[number]): { readonly answer: z.ZodType } {
  const [service, name] = asks.split('.') as ['planner', 'settings'];
  return QUERIES[service][name];
}

/** The names in braces. */
export function namesIn({ path }: Pick<QuestionRoute, 'path'>): string[] {
  return [...path.matchAll(/\{(\w+)\}/gu)].map(([, name]) => name ?? '');
}

/** The fields of the question that a body may say; undefined when there are none. */
export function bodyOfQuestion(route: QuestionRoute): z.ZodObject | undefined {
  const { method, asks, named = {}, fixed = {}, isOrder } = route;
  if (method === 'get') return undefined;
  const { shape } = queryOf(asks).request;
  const elsewhere = new Set([
    ...namesIn(route).map((name) => named[name] ?? name),
    ...Object.keys(fixed),
    ...(isOrder === true ? ['id'] : []),
  ]);
  const fields = Object.entries(shape).filter(([field]) => !elsewhere.has(field));
  return fields.length === 0 ? undefined : z.strictObject(Object.fromEntries(fields));
}
