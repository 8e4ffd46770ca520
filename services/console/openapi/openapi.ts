import { z } from 'zod';
import { RecordedItem } from '#libs/output';
import {
  answer,
  body,
  ID,
  IDEMPOTENCY_KEY,
  LIMIT,
  operation,
  refusedWith,
  RUN_ID,
  textAnswer,
  textBeside,
  texts,
  VERB_KEY,
} from './described.js';
import { ENROLMENT_SCHEMAS, enrolmentPaths } from './enrolment-paths.js';
import { OUTPUT_FIELDS } from './output-fields.js';
import { SCREEN_SCHEMAS, screenPaths } from './screen-paths.js';
import { questionPaths, questionSchemas } from './question-paths.js';
import { METRICS_FIELDS } from './metrics-fields.js';
import { SEARCH_FIELDS } from './search-fields.js';
import { Me } from '../login/index.js';
import {
  ApprovalWord,
  ApprovedContent,
  ContentRevocation,
  ContentWord,
  ProfileWord,
  Settlement,
} from '../runs/index.js';
import {
  AgentProfile,
  AccessKind,
  AttentionKind,
  AttentionWord,
  FeedMessage,
  Json,
  OutputChunk,
  QUERIES,
  Refusal,
  RunRequest,
  RunStatus,
  RunSummary,
  RunView,
  RunBoard,
  RunConversation,
  VERB_FIELDS,
  ShownEntry,
  VERB_PATHS,
  VerbAnswer,
} from '#proto';

const SCHEMAS = {
  Json,
  RunRequest,
  RunSummary,
  RunView,
  FeedMessage,
  OutputChunk,
  RecordedItem,
  Runs: QUERIES.logging.runs.answer,
  Accepted: z.strictObject({ runId: z.string(), requestId: z.string() }),
  Refused: z.strictObject({ error: Refusal }),
  /** What came of a command that was not refused. */
  Controlled: VerbAnswer.extend({ answer: z.enum(['accepted', 'ignored']) }),
  ...verbBodies(),
  Approvals: QUERIES.logging.approvals.answer,
  ApprovalWord,
  ContentApprovals: QUERIES.registry['content-approvals'].answer,
  ContentWord,
  ContentRevocation,
  ApprovedContent,
  RunBoard,
  BoardEntry: ShownEntry,
  RunConversation,
  ContentRevoked: QUERIES.registry['content-revoke'].answer,
  Devices: QUERIES.registry.devices.answer,
  Device: z.strictObject({ device: AgentProfile, profile: z.array(z.unknown()) }),
  Workspaces: QUERIES['device-agent'].workspaces.answer,
  ProfileWord,
  ProfileSet: QUERIES.registry['device-set'].answer,
  Attention: QUERIES.logging.attention.answer,
  AttentionWord,
  Settlement,
  Me,
  Access: QUERIES.registry.access.answer,
  Search: QUERIES.logging.search.answer,
  Figures: QUERIES.logging.metrics.answer,
  ...ENROLMENT_SCHEMAS,
  ...SCREEN_SCHEMAS,
  ...questionSchemas(),
};

/** What is said in the bodies of verbs, by the names they have here; the same name is the same body. */
function verbBodies(): Record<string, z.ZodType> {
  const bodies = VERB_PATHS.flatMap(({ verb, body: described, without = [] }): [string, z.ZodType][] => {
    const { shape } = VERB_FIELDS[verb];
    const whole = described?.field === undefined ? undefined : (shape as Record<string, z.ZodType>)[described.field];
    const said = Object.entries(shape).filter(([field]) => !without.includes(field));
    return described === undefined ? [] : [[described.name, whole ?? z.strictObject(Object.fromEntries(said))]];
  });
  return Object.fromEntries(bodies.toReversed());
}

/** The HTTP interface as OpenAPI 3.1, from the schemas that the messages are checked with. */
export function openApi(): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Orrery',
      version: '1',
      description:
        'Send requests, read runs, follow their events and what their tasks write, control them, decide what their agents may do.',
    },
    security: [{ token: [] }, { session: [] }],
    paths: withQuestions({
      '/v1/requests': { post: submitOperation() },
      '/v1/runs': {
        get: operation(
          'The latest runs for which all holds that is said; Link names the next page',
          { '200': answer('Runs') },
          [...RUN_FIELDS, LIMIT],
        ),
      },
      '/v1/runs/{id}': { get: operation('One run', { '200': answer('RunView'), ...refusedWith(404) }, [RUN_ID]) },
      '/v1/runs/{id}/conversation': {
        get: operation(
          'What was asked, said, answered and planned in a run, in order; of a long one the last of it',
          { '200': answer('RunConversation'), ...refusedWith(404) },
          [RUN_ID],
        ),
      },
      '/v1/runs/{id}/board': {
        get: operation(
          'The board of a run: the values that its tasks, agents, planner and people share',
          { '200': answer('RunBoard'), ...refusedWith(404) },
          [RUN_ID],
        ),
      },
      '/v1/runs/{id}/report.md': {
        get: operation('The report of a run', { '200': textAnswer('text/markdown'), ...refusedWith(404, 413) }, [
          RUN_ID,
        ]),
      },
      '/v1/runs/{id}/export': {
        get: operation(
          'A run as it is stored, in lines of JSON, to be taken home: what `orrery export` writes',
          { '200': textAnswer('application/x-ndjson'), ...refusedWith(404) },
          [RUN_ID],
        ),
      },
      '/v1/runs/{id}/records': {
        get: operation('The same, to be verified', { '200': textAnswer('application/x-ndjson'), ...refusedWith(404) }, [
          RUN_ID,
        ]),
      },
      '/v1/runs/{id}/events': {
        get: operation(
          'The events of a run as Server-Sent Events, each a FeedMessage, until the run ends',
          {
            '200': textAnswer('text/event-stream'),
            '204': { description: 'the run ended with the event named' },
            ...refusedWith(404),
          },
          [RUN_ID, LAST_EVENT_ID],
        ),
      },
      '/v1/runs/{id}/output': {
        get: operation(
          'What the tasks of a run write while they run, as Server-Sent Events, each an OutputChunk, until the run ends; with a format, what is recorded of it',
          {
            '200': texts('text/event-stream', 'text/plain', 'application/x-ndjson', 'application/octet-stream'),
            '204': { description: 'without a format: the run is over' },
            ...refusedWith(404),
          },
          [RUN_ID, ...OUTPUT_FIELDS],
        ),
      },
      '/v1/search': {
        get: operation(
          'Commands and what they printed, newest first, for which all holds that is said; with `before` as an answer gave it the next page',
          { '200': answer('Search') },
          SEARCH_FIELDS,
        ),
      },
      '/v1/metrics': {
        get: operation(
          'Figures over all runs for which all holds that is said: success, changes, parallelism, latency, use',
          { '200': { ...answer('Figures'), ...textBeside('Figures', 'text/csv') }, ...refusedWith(413) },
          METRICS_FIELDS,
        ),
      },
      ...controlPaths(),
      '/v1/attention': {
        get: operation(
          'What needs somebody, newest first; what could not be looked at is named',
          { '200': answer('Attention'), ...refusedWith(404) },
          [...ATTENTION_FIELDS, LIMIT],
        ),
      },
      '/v1/attention/{id}/take': {
        post: operation(
          'Take an entry on, from whoever has it',
          { '200': answer('AttentionWord'), ...refusedWith(404, 409) },
          [ID, VERB_KEY],
        ),
      },
      '/v1/attention/{id}/settle': {
        post: {
          ...operation(
            'Settle an entry: what happens anew is another one',
            { '200': answer('AttentionWord'), ...refusedWith(404, 409, 413) },
            [ID, VERB_KEY],
          ),
          ...body('Settlement', true),
        },
      },
      '/v1/access': {
        get: operation(
          'Who read, exported and verified what, who came in, and what was changed about people, in order, page by page',
          { '200': answer('Access') },
          ACCESS_FIELDS,
        ),
      },
      '/v1/me': { get: operation('Who asks, with which roles, by which login', { '200': answer('Me') }, []) },
      '/v1/approvals': {
        get: operation('What agents wait for a person to decide, newest first', { '200': answer('Approvals') }, [
          STATE,
          LIMIT,
        ]),
        post: {
          ...operation('Decide it: once', { '200': answer('Controlled'), ...refusedWith(404, 409, 413, 507) }, [
            VERB_KEY,
          ]),
          ...body('ApprovalWord', true),
        },
      },
      '/v1/content-approvals': {
        get: operation(
          'Plans that persons have approved once, newest first',
          { '200': answer('ContentApprovals') },
          [],
        ),
        post: {
          ...operation(
            'Approve a plan once: runs of exactly this one are not asked about',
            { '200': answer('ApprovedContent'), ...refusedWith(409, 413, 507) },
            [VERB_KEY],
          ),
          ...body('ContentWord', true),
        },
      },
      '/v1/content-approvals/{id}/revoke': {
        post: {
          ...operation(
            'Take it back, whoever gave it',
            { '200': answer('ContentRevoked'), ...refusedWith(404, 409, 413, 507) },
            [ID, VERB_KEY],
          ),
          ...body('ContentRevocation'),
        },
      },
      '/v1/devices': { get: operation('The devices, by id', { '200': answer('Devices') }, []) },
      '/v1/devices/{id}': {
        get: operation(
          'One device; `profile` has each name once: its value, who says so and when, and what does not count for that',
          { '200': answer('Device'), ...refusedWith(404) },
          [ID],
        ),
      },
      '/v1/devices/{id}/workspaces': {
        get: operation(
          'The directories that runs have on it, as the device says now',
          { '200': answer('Workspaces'), ...refusedWith(400, 404, 409) },
          [ID],
        ),
      },
      '/v1/devices/{id}/profile': {
        post: {
          ...operation(
            'Say what a device is; it counts before what the device says itself',
            { '200': answer('ProfileSet'), ...refusedWith(400, 404, 409, 413, 507) },
            [ID, VERB_KEY],
          ),
          ...body('ProfileWord'),
        },
      },
      ...enrolmentPaths(),
      ...screenPaths(),
      '/v1/artifacts/{sha256}': {
        get: operation(
          'The content of an artifact: a whole output, or a file that a task has left',
          { '200': textAnswer('application/octet-stream'), ...refusedWith(404) },
          [{ ...ID, name: 'sha256' }],
        ),
      },
    }),
    components: { schemas: schemas(), securitySchemes: SECURITY },
  };
}

/** A path may have one method from each. */
function withQuestions(paths: Readonly<Record<string, object>>): Record<string, object> {
  const asked = questionPaths();
  const both = [...new Set([...Object.keys(paths), ...Object.keys(asked)])];
  return Object.fromEntries(both.map((path) => [path, { ...paths[path], ...asked[path] }]));
}

const SECURITY = {
  token: { type: 'http', scheme: 'bearer', description: 'of "orrery tokens", or the admin token of the first start' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-orrery-session',
    description:
      'begun at /login; without the prefix where the console is reached by plain http. A change needs the header X-Orrery-CSRF with the token of /v1/me, and comes from a page of this console',
  },
};

const STATE = { name: 'state', in: 'query', schema: { type: 'string', enum: ['open', 'all'], default: 'open' } };
const RUN_FIELDS = [
  {
    name: 'status',
    in: 'query',
    description: 'one of these; also with commas, also in small letters',
    schema: { type: 'array', items: { type: 'string', enum: RunStatus.options } },
  },
  { name: 'by', in: 'query', description: 'asked by this actor', schema: { type: 'string' } },
  { name: 'device', in: 'query', description: 'that were on this device', schema: { type: 'string' } },
  { name: 'since', in: 'query', description: 'asked from then on', schema: { type: 'string', format: 'date-time' } },
  { name: 'before', in: 'query', description: 'older than this run, for the next page', schema: { type: 'string' } },
  { name: 'id', in: 'query', description: 'whose id begins so', schema: { type: 'string' } },
  {
    name: 'label',
    in: 'query',
    description: 'with this label: "team=db", or "team" with any value; of several all have to be there',
    schema: { type: 'array', items: { type: 'string' } },
  },
];
const ATTENTION_FIELDS = [
  {
    name: 'kind',
    in: 'query',
    description: 'one of these; also with commas',
    schema: { type: 'array', items: { type: 'string', enum: AttentionKind.options } },
  },
  { name: 'run', in: 'query', description: 'about this run', schema: { type: 'string' } },
  { name: 'device', in: 'query', description: 'about this device', schema: { type: 'string' } },
  { name: 'all', in: 'query', description: 'also what is settled', schema: { type: 'boolean', default: false } },
  { name: 'before', in: 'query', description: 'older than this entry', schema: { type: 'string' } },
  { name: 'id', in: 'query', description: 'whose id begins so', schema: { type: 'string' } },
];
const ACCESS_FIELDS = [
  { name: 'since', in: 'query', description: 'from then on', schema: { type: 'string', format: 'date-time' } },
  { name: 'actor', in: 'query', description: 'by this one only', schema: { type: 'string' } },
  { name: 'run', in: 'query', description: 'about this run only', schema: { type: 'string' } },
  { name: 'what', in: 'query', description: 'of this kind only', schema: { type: 'string', enum: AccessKind.options } },
  ...['access', 'actors'].map((name) => ({
    name,
    in: 'query',
    description: `as "after" of the page before names it`,
    schema: { type: 'integer', minimum: 0 },
  })),
];
const LAST_EVENT_ID = { name: 'Last-Event-ID', in: 'header', schema: { type: 'string' } };
/** What people and programs do to a run that is there, of the table of verbs. */
function controlPaths(): Record<string, unknown> {
  const read = {
    'board/{name}': {
      get: operation('One value of the board', { '200': answer('BoardEntry'), ...refusedWith(404) }, [
        RUN_ID,
        { ...ID, name: 'name' },
      ]),
    },
  };
  return Object.fromEntries(
    VERB_PATHS.map(({ path, what, body: described }) => {
      const parameters = [...path.matchAll(/\{(\w+)\}/gu)].map(([, name]) => ({ ...ID, name }));
      const requestBody = described === undefined ? {} : body(described.name, described.required);
      const also = path === 'board/{name}' ? read['board/{name}'] : {};
      return [`/v1/runs/{id}/${path}`, { ...also, ...control(what, parameters, requestBody) }];
    }),
  );
}

function control(summary: string, parameters: readonly unknown[] = [], requestBody: object = {}) {
  const responses = { '200': answer('Controlled'), ...refusedWith(404, 409, 413, 507) };
  return { post: { ...operation(summary, responses, [RUN_ID, ...parameters, VERB_KEY]), ...requestBody } };
}

function submitOperation() {
  return {
    ...operation(
      'Send a request; the same request id is the same run for ever',
      {
        '202': answer('Accepted'),
        ...refusedWith(409, 413, 507),
      },
      [IDEMPOTENCY_KEY],
    ),
    ...body('RunRequest', true),
  };
}

/** What is read leniently is described as it may be sent: fields with a default are optional. */
function schemas(): Record<string, unknown> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, { io: 'input', uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    Object.entries(made.schemas).map(([name, schema]) => {
      const { $schema: _schema, $id: _id, ...rest } = schema;
      return [name, rest];
    }),
  );
}
