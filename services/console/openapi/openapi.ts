import { z } from 'zod';
import { ApprovalWord } from '../runs/index.js';
import { VERB_FIELDS } from '#libs/messaging';
import {
  FeedMessage,
  Json,
  OutputChunk,
  Proposal,
  QUERIES,
  Refusal,
  RunRequest,
  RunSummary,
  RunView,
  VerbAnswer,
} from '#proto';

const SCHEMAS = {
  Json,
  RunRequest,
  RunSummary,
  RunView,
  FeedMessage,
  OutputChunk,
  Runs: QUERIES.logging.runs.answer,
  Accepted: z.strictObject({ runId: z.string(), requestId: z.string() }),
  Refused: z.strictObject({ error: Refusal }),
  /** What came of a command that was not refused. */
  Controlled: VerbAnswer.extend({ answer: z.enum(['accepted', 'ignored']) }),
  Reason: VERB_FIELDS.CANCEL,
  Fork: VERB_FIELDS.FORK,
  Proposal,
  Approvals: QUERIES.logging.approvals.answer,
  ApprovalWord,
} as const;
type Name = keyof typeof SCHEMAS;

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
    security: [{ token: [] }],
    paths: {
      '/v1/requests': { post: submitOperation() },
      '/v1/runs': { get: operation('The latest runs', { '200': answer('Runs') }, [LIMIT]) },
      '/v1/runs/{id}': { get: operation('One run', { '200': answer('RunView'), ...refusals(404) }, [ID]) },
      '/v1/runs/{id}/report.md': {
        get: operation('The report of a run', { '200': text('text/markdown'), ...refusals(404, 413) }, [ID]),
      },
      '/v1/runs/{id}/events': {
        get: operation(
          'The events of a run as Server-Sent Events, each a FeedMessage, until the run ends',
          { '200': text('text/event-stream'), '204': { description: 'the run ended with the event named' } },
          [ID, LAST_EVENT_ID],
        ),
      },
      '/v1/runs/{id}/output': {
        get: operation(
          'What the tasks of a run write while they run, as Server-Sent Events, each an OutputChunk, until the run ends',
          {
            '200': text('text/event-stream'),
            '204': { description: 'the run is over: there is no more' },
            ...refusals(404),
          },
          [ID, TASK],
        ),
      },
      ...controlPaths(),
      '/v1/approvals': {
        get: operation('What agents wait for a person to decide, newest first', { '200': answer('Approvals') }, [
          STATE,
          LIMIT,
        ]),
        post: {
          ...operation('Decide it: once', { '200': answer('Controlled'), ...refusals(404, 409, 413) }, [VERB_KEY]),
          ...body('ApprovalWord', true),
        },
      },
    },
    components: { schemas: schemas(), securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const LIMIT = { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 1_000 } };
const STATE = { name: 'state', in: 'query', schema: { type: 'string', enum: ['open', 'all'], default: 'open' } };
const TASK = { name: 'task', in: 'query', description: 'of this task only', schema: { type: 'string' } };
const LAST_EVENT_ID = { name: 'Last-Event-ID', in: 'header', schema: { type: 'string' } };
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'the request id, when the body has none',
  schema: { type: 'string' },
};

const TASK_ID = { name: 'taskId', in: 'path', required: true, schema: { type: 'string' } };
const VERB_KEY = {
  ...IDEMPOTENCY_KEY,
  description: 'the id of this command: the same id is decided once; every answer names it in this header',
};

/** What people and programs do to a run that is there. */
function controlPaths(): Record<string, unknown> {
  return {
    '/v1/runs/{id}/cancel': control('End a run: pending tasks are cancelled, running ones stopped', [], body('Reason')),
    '/v1/runs/{id}/pause': control('Start nothing new; what runs goes on', [], body('Reason')),
    '/v1/runs/{id}/resume': control('Go on with a run that was paused'),
    '/v1/runs/{id}/fork': control('Begin a new run where this one stood after an event', [], body('Fork', true)),
    '/v1/runs/{id}/edits': control('Change the constellation, all edits or none', [], body('Proposal', true)),
    '/v1/runs/{id}/tasks/{taskId}/retry': control('A new attempt of a task', [TASK_ID]),
  };
}

function control(summary: string, parameters: readonly unknown[] = [], requestBody: object = {}) {
  const responses = { '200': answer('Controlled'), ...refusals(404, 409, 413) };
  return { post: { ...operation(summary, responses, [ID, ...parameters, VERB_KEY]), ...requestBody } };
}

function body(name: Name, required = false) {
  return { requestBody: { required, content: { 'application/json': { schema: reference(name) } } } };
}

function submitOperation() {
  return {
    ...operation(
      'Send a request; the same request id is the same run for ever',
      {
        '202': answer('Accepted'),
        ...refusals(409, 413),
      },
      [IDEMPOTENCY_KEY],
    ),
    ...body('RunRequest', true),
  };
}

function operation(summary: string, responses: Record<string, unknown>, parameters: readonly unknown[]) {
  return { summary, parameters, responses: { ...responses, ...refusals(400, 401, 403, 503) } };
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'not valid; the issues name each field',
  401: 'no token, or not the right one',
  403: 'the Host or Origin is not one of ours',
  404: 'there is no such run or task',
  409: 'the request id was used with other content, the state of the run does not allow it, or an edit breaks a rule',
  413: 'larger than allowed',
  503: 'not now, or nobody knows yet what came of it; send the same id again',
};

function refusals(...statuses: number[]): Record<string, unknown> {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: REASONS[status], content: { 'application/json': { schema: reference('Refused') } } },
    ]),
  );
}

function answer(name: Name) {
  return { description: name, content: { 'application/json': { schema: reference(name) } } };
}

function text(mediaType: string) {
  return { description: mediaType, content: { [mediaType]: { schema: { type: 'string' } } } };
}

function reference(name: Name) {
  return { $ref: `#/components/schemas/${name}` };
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
