import { z } from 'zod';
import { Actor, ActorProof, KeptProof, Vouched } from './actors.js';
import {
  AdminProfile,
  ClientTelemetry,
  DeviceMetrics,
  DeviceSession,
  Revocation,
  ServiceManifest,
  ToolInfo,
} from './agent-profile.js';
import { ApprovalView, Ask } from './approvals.js';
import { AIP_REVISION } from './aip/frames.js';
import { Budget, Usage } from './budget.js';
import { CommandOutcome, Judged } from './commands.js';
import { Verb } from './verb-bodies.js';
import {
  CommandCall,
  PlannedCall,
  ScreenPlace,
  RecordedConstellation,
  RecordedLine,
  TaskConstellation,
  TaskStar,
  TaskStarLine,
  Verification,
} from './constellation.js';
import { HEADER_COMMIT, HEADER_TYPES } from './commit.js';
import { Edit, EditTrace, EditTrigger, EditViolation, Proposal, RecordedEdit } from './edits.js';
import { Instant, Json } from './ids.js';
import { titleOf, MESSAGES, VERB_COMMANDS } from './messages.js';
import { ModelCall } from './model.js';
import { PolicyVerdict } from './policy.js';
import { QUERIES } from './queries.js';
import { Refusal, RunOptions } from './request.js';
import { TaskError, TaskResult } from './result.js';
import { subjects } from './subjects.js';
import { VERSION } from './version.js';
import { EditingView, RunSummary, RunView } from './view.js';

/** Parts that many messages share: described once. */
const PARTS: Readonly<Record<string, z.ZodType>> = {
  Actor,
  ActorProof,
  AdminProfile,
  ApprovalView,
  Ask,
  Budget,
  ClientTelemetry,
  CommandCall,
  PlannedCall,
  ScreenPlace,
  CommandOutcome,
  DeviceMetrics,
  DeviceSession,
  Edit,
  EditTrace,
  EditTrigger,
  EditViolation,
  EditingView,
  Instant,
  Json,
  Judged,
  KeptProof,
  ModelCall,
  PolicyVerdict,
  Proposal,
  RecordedConstellation,
  RecordedEdit,
  RecordedLine,
  Refusal,
  Revocation,
  RunOptions,
  RunSummary,
  RunView,
  ServiceManifest,
  TaskConstellation,
  TaskError,
  TaskResult,
  TaskStar,
  TaskStarLine,
  ToolInfo,
  Usage,
  Verification,
  Vouched,
};

type Direction = 'send' | 'receive';

interface ChannelSpec {
  /** A subject with a `*` for each parameter, in their order; or the path of a socket. */
  readonly subject: string;
  readonly parameters?: readonly string[];
  readonly about: string;
  readonly messages: readonly string[];
  /** What this system does there. Requests are answered with `answers`. */
  readonly action: Direction;
  readonly answers?: readonly string[];
  readonly server?: 'bus' | 'gateway' | 'console';
}

const ID = 'letters, digits, "_" and "-", at most 64';
const PARAMETERS: Readonly<Record<string, string>> = {
  requestId: `of the request: ${ID}`,
  runId: 'of the run: 26 lower-case letters and digits',
  taskId: `of the task in its run: ${ID}`,
  attempt: 'number of the try, from 1',
  step: 'of the attempt, from 0',
  index: 'of the command in its step, from 0',
  kind: 'step, ask, end (exactly one) or late (a result after the end)',
  partition: 'of the run: FNV-1a (32 bit) of its id, modulo 32',
  deviceId: `of the device: ${ID}`,
  actorId: 'of the person or system: lower-case letters, digits, "_" and "-", at most 63',
  attentionId: 'of the entry: 12 characters of 0-9 and a-z',
  key: 'public key of the bus: U and 55 characters',
  sessionId: `of the session, as PRESENCE says it: ${ID}`,
  eventType: 'of the event, e.g. TASK_STARTED',
  owner: 'id of the actor who asked for the run; "-" for who is no actor of the bus',
  verb: `one of ${Verb.options.join(', ')}`,
  service: 'that could not handle the message',
};

const framesOf = (sender: string): string[] =>
  Object.keys(MESSAGES).filter((name) => MESSAGES[name]?.about === `AIP frame of a ${sender}`);

const CHANNELS: Readonly<Record<string, ChannelSpec>> = {
  requests: {
    subject: subjects.requests,
    about: 'Stream of requests: publish here, the acceptance follows on the answer channel.',
    messages: ['RunRequest'],
    action: 'receive',
  },
  requestsOfActor: {
    subject: subjects.anyRequestsOf,
    parameters: ['actorId'],
    about: 'Stream of requests of one actor, whose key alone may publish here.',
    messages: ['PublishedRequest'],
    action: 'receive',
  },
  answers: {
    subject: subjects.answer('*'),
    parameters: ['requestId'],
    about: 'What became of a request that was published.',
    messages: ['SubmitAnswer'],
    action: 'send',
  },
  answersToActor: {
    subject: subjects.anyAnswerTo,
    parameters: ['actorId', 'requestId'],
    about: 'What became of a request that an actor published on its own subject.',
    messages: ['SubmitAnswer'],
    action: 'send',
  },
  submit: {
    subject: subjects.submit,
    about: 'A request, signed by who asks, that is answered within 5 s.',
    messages: ['SignedRequest'],
    action: 'receive',
    answers: ['SubmitAnswer'],
  },
  feed: {
    subject: subjects.feedOf('*'),
    parameters: ['runId', 'eventType', 'owner'],
    about: 'Every event of every run, in order; an external system gets those of its own runs. Consumers dedupe by id.',
    messages: ['FeedMessage'],
    action: 'send',
  },
  liveRuns: {
    subject: subjects.anyLiveRun,
    parameters: ['runId'],
    about: 'The commits of a run as they are stored; not stored here.',
    messages: ['RunCommit'],
    action: 'send',
  },
  runs: {
    subject: subjects.anyRun,
    parameters: ['runId'],
    about: 'The event log of runs; read by the services only.',
    messages: ['RunCommit'],
    action: 'send',
  },
  attempts: {
    subject: subjects.anyAttempt.replace('>', '*.*.*.*.*'),
    parameters: ['partition', 'runId', 'taskId', 'attempt', 'kind'],
    about: 'The event log of attempts; read by the services only.',
    messages: ['AttemptCommit'],
    action: 'send',
  },
  plans: {
    subject: subjects.anyPlan.replace('>', '*.*'),
    parameters: ['partition', 'runId'],
    about: 'The event log of the planner, by run; read by the services only.',
    messages: ['PlanCommit'],
    action: 'send',
  },
  fleet: {
    subject: subjects.anyFleet,
    parameters: ['deviceId'],
    about: 'The event log of devices; read by the services only.',
    messages: ['FleetCommit'],
    action: 'send',
  },
  actors: {
    subject: subjects.anyActor,
    parameters: ['actorId'],
    about: 'The event log of people and systems; read by the services and by auditors.',
    messages: ['ActorCommit'],
    action: 'send',
  },
  attention: {
    subject: subjects.anyAttention,
    parameters: ['attentionId'],
    about: 'What people have said to the entries of the inbox; read by the services and by auditors.',
    messages: ['AttentionCommit'],
    action: 'send',
  },
  verbs: {
    subject: subjects.anyVerb.replace('>', '*.*.*'),
    parameters: ['partition', 'runId', 'verb'],
    about:
      'Verbs of people and programs, signed by their senders. Repeated with the same id until there is a final answer.',
    messages: ['SubmitCommand', ...VERB_COMMANDS.map(([name]) => name)],
    action: 'receive',
    answers: ['VerbAnswer'],
  },
  deviceCommands: {
    subject: subjects.anyDeviceCommand,
    parameters: ['deviceId'],
    about: 'Answered by the gateway that holds the socket of the device, within 10 s.',
    messages: ['DeviceRequest'],
    action: 'receive',
    answers: ['DeviceAnswer'],
  },
  deviceSessions: {
    subject: subjects.anyDeviceSession,
    parameters: ['deviceId', 'sessionId'],
    about:
      'Answered by the gateway that holds the session of a foreign device, or held it until some minutes ago: what was sent in it.',
    messages: ['DeviceRequest'],
    action: 'receive',
    answers: ['DeviceAnswer'],
  },
  output: {
    subject: subjects.anyOutput.replace('>', '*.*.*.*.*'),
    parameters: ['runId', 'taskId', 'attempt', 'step', 'index'],
    about:
      'What running commands write, as it is written: for people who watch. Kept for a day in OUTPUT, where pieces may be missing; whole it is in the results.',
    messages: ['OutputChunk'],
    action: 'send',
  },
  accessByKey: {
    subject: subjects.accessByKey('*'),
    parameters: ['key'],
    about: 'What the holder of a key has read, stored before it is shown; only this key may write there.',
    messages: ['AccessRecord'],
    action: 'receive',
  },
  accessAtConsole: {
    subject: subjects.anyAccessAt('console'),
    parameters: ['actorId'],
    about: 'Who came in at the console and what he reads there, stored before it is shown; `_` for nobody.',
    messages: ['AccessRecord'],
    action: 'send',
  },
  deadLetters: {
    subject: subjects.anyDlq,
    parameters: ['service'],
    about: 'Messages that are themselves bad, as they came.',
    messages: ['DeadLetter'],
    action: 'send',
  },
  ...Object.fromEntries(queryChannels()),
  deviceFrames: {
    subject: '/ws',
    about: `AIP revision ${AIP_REVISION}: what clients send. The token is in the upgrade request, never in the address.`,
    messages: framesOf('device'),
    action: 'receive',
    server: 'gateway',
  },
  serverFrames: {
    subject: '/ws',
    about: `AIP revision ${AIP_REVISION}: what clients are sent.`,
    messages: framesOf('server'),
    action: 'send',
    server: 'gateway',
  },
  liveWords: {
    subject: '/v1/live',
    about: 'What to follow: runs, outputs, lists. The session cookie or a token is in the upgrade request.',
    messages: ['LiveWord'],
    action: 'receive',
    server: 'console',
  },
  liveMessages: {
    subject: '/v1/live',
    about: 'What is followed, each channel in order; who comes back says how far it was told.',
    messages: ['LiveMessage'],
    action: 'send',
    server: 'console',
  },
};

function queryChannels(): [string, ChannelSpec][] {
  return Object.entries(QUERIES).flatMap(([service, queries]) =>
    Object.keys(queries).map((name): [string, ChannelSpec] => {
      const title = titleOf(service, name);
      return [
        `query${title}`,
        {
          subject: subjects.query(service, name),
          about: `Query of ${service}, a NATS micro service.`,
          messages: [`${title}Request`],
          action: 'receive',
          answers: [`${title}Answer`, 'QueryError'],
        },
      ];
    }),
  );
}

/** The AsyncAPI 3.0 document of everything that crosses a wire, from the schemas that parse it. */
export function asyncApiDocument(): Record<string, unknown> {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Orrery',
      version: VERSION,
      description: 'Runs one request as a task constellation on a fleet of devices, event-sourced on NATS JetStream.',
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    servers: {
      bus: { host: 'localhost:4222', protocol: 'nats', description: 'NATS with JetStream' },
      gateway: { host: 'localhost:5000', protocol: 'ws', description: 'AIP: devices dial in' },
      console: { host: 'localhost:8080', protocol: 'ws', description: 'the live stream of the console' },
    },
    channels: mapped(CHANNELS, channel),
    operations: mapped(CHANNELS, operation),
    components: {
      messages: mapped(MESSAGES, ({ about }, name) => ({
        name,
        title: name,
        summary: about,
        ...(isCommit(name) ? { headers: COMMIT_HEADERS } : {}),
        payload: reference('schemas', name),
      })),
      schemas: schemas(),
    },
  };
}

function channel({ subject, parameters = [], about, messages, answers = [], server = 'bus' }: ChannelSpec): object {
  return {
    address: addressOf(subject, parameters),
    description: about,
    servers: [{ $ref: `#/servers/${server}` }],
    ...(parameters.length > 0
      ? { parameters: Object.fromEntries(parameters.map((name) => [name, { description: PARAMETERS[name] ?? '' }])) }
      : {}),
    messages: Object.fromEntries([...messages, ...answers].map((name) => [name, reference('messages', name)])),
  };
}

function operation({ action, about, messages, answers }: ChannelSpec, name: string): object {
  const here = { $ref: `#/channels/${name}` };
  const ofChannel = (message: string): object => ({ $ref: `#/channels/${name}/messages/${message}` });
  return {
    action,
    channel: here,
    summary: about,
    messages: messages.map(ofChannel),
    ...(answers === undefined
      ? {}
      : {
          reply: {
            address: { location: '$message.header#/reply', description: 'the reply subject of the NATS request' },
            channel: here,
            messages: answers.map(ofChannel),
          },
        }),
  };
}

/** `orrery.run.*` with `runId` -> `orrery.run.{runId}`. */
function addressOf(subject: string, parameters: readonly string[]): string {
  const left = [...parameters];
  return subject.replaceAll('*', () => `{${left.shift() ?? ''}}`);
}

const COMMIT_HEADERS = {
  type: 'object',
  properties: {
    [HEADER_COMMIT]: { type: 'string', description: 'ULID of the commit, also Nats-Msg-Id' },
    [HEADER_TYPES]: { type: 'string', description: 'comma list of the event types in the commit' },
  },
};

const isCommit = (name: string): boolean => name.endsWith('Commit');

function schemas(): Record<string, unknown> {
  const registry = z.registry<{ id: string }>();
  const described = { ...PARTS, ...mapped(MESSAGES, ({ schema }) => schema) };
  for (const [id, schema] of Object.entries(described)) registry.add(schema, { id });
  const uri = (id: string): string => `#/components/schemas/${id}`;
  const made = z.toJSONSchema(registry, { target: 'draft-7', io: 'input', uri });
  return mapped(made.schemas, (schema) => {
    const { $schema: _, $id: __, ...rest } = schema;
    return rest;
  });
}

function mapped<T, U>(values: Readonly<Record<string, T>>, to: (value: T, name: string) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value, name)]));
}

function reference(kind: 'messages' | 'schemas', name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}
