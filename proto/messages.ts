import { z } from 'zod';
import { AccessRecord } from './access.js';
import { ActorCommit, ActorEntry, RecordedActorEvent } from './actor-events.js';
import { ActorProof, KnownActor } from './actors.js';
import { AgentProfile, Presence } from './agent-profile.js';
import { ClientMessage } from './aip/client-messages.js';
import { ServerMessage } from './aip/server-messages.js';
import { AttentionCommit, RecordedAttentionEvent } from './attention.js';
import { AttemptCommit, RecordedAttemptEvent } from './attempt-events.js';
import { DeviceAnswer, DeviceRequest, OutputChunk, SubmitCommand } from './commands.js';
import { VERB_BODIES, VerbAnswer } from './verb-bodies.js';
import { DeadLetter } from './dead-letter.js';
import { FeedMessage } from './feed.js';
import { FleetCommit, RecordedFleetEvent } from './fleet-events.js';
import { RevokedGrants } from './grants.js';
import { LiveWord } from './live.js';
import { LiveMessage } from './live-messages.js';
import { Member } from './members.js';
import { QUERIES, QueryError } from './queries.js';
import { PlanCommit, RecordedPlanEvent } from './plan-events.js';
import { PublishedRequest, RunRequest, SignedRequest, SubmitAnswer } from './request.js';
import { isSignedAction, type QueryAction } from './roles.js';
import { RecordedRunEvent, RunCommit } from './run-events.js';

/** One kind of message that crosses a wire. */
export interface MessageSpec {
  readonly schema: z.ZodType;
  readonly about: string;
}

const message = (schema: z.ZodType, about: string): MessageSpec => ({ schema, about });

/** Version 0.1.0 sent these without a proof. Such a one is understood, and refused. */
const ONCE_UNSIGNED = new Set<QueryAction>([
  'orchestrator.dlq-retry',
  'device-agent.dlq-retry',
  'planner.dlq-retry',
  'device-agent.explain',
  'registry.devices',
  'registry.clients',
  'registry.enroll',
  'registry.enroll-client',
  'registry.revoked-grants',
  'planner.match',
  'planner.runbooks',
  'planner.runbook',
  'planner.experiences',
  'logging.runs',
  'logging.run',
  'logging.approvals',
  'logging.report',
]);

/** The request with the proof of who asks. */
function signed(action: QueryAction, request: z.ZodType): z.ZodType {
  if (!isSignedAction(action) || !(request instanceof z.ZodObject)) return request;
  return request.extend({ actor: ONCE_UNSIGNED.has(action) ? ActorProof.optional() : ActorProof });
}

/** Requests and answers of queries, e.g. `RegistryDevicesRequest`. */
const queries: [string, MessageSpec][] = Object.entries(QUERIES).flatMap(([service, names]) =>
  Object.entries(names).flatMap(([name, query]: [string, { request: z.ZodType; answer: z.ZodType }]) => {
    const title = titleOf(service, name);
    const request = signed(`${service}.${name}` as QueryAction, query.request);
    return [
      [`${title}Request`, message(request, `asks ${service} for ${name}`)] as [string, MessageSpec],
      [`${title}Answer`, message(query.answer, `what ${service} answers`)] as [string, MessageSpec],
    ];
  }),
);

/** The bodies of the verbs that change a run: `CANCEL` is CancelCommand. */
export const VERB_COMMANDS: readonly [string, MessageSpec][] = Object.entries(VERB_BODIES).map(([verb, schema]) => [
  `${verb.toLowerCase().split('_').map(capital).join('')}Command`,
  message(schema, `the verb ${verb}`),
]);

/** The options of a union of events, each under its type. */
const events = (options: readonly { shape: { type: { value: string } } }[], about: string): [string, MessageSpec][] =>
  options.map((option) => [option.shape.type.value, message(option as unknown as z.ZodType, about)]);

/** The same for frames: `register` of a device is `DeviceRegister`. */
const frames = (options: readonly { shape: { type: { value: string } } }[], sender: string): [string, MessageSpec][] =>
  options.map((option) => {
    const { value } = option.shape.type;
    const name = sender + value.split('_').map(capital).join('');
    return [name, message(option as unknown as z.ZodType, `AIP frame of a ${sender.toLowerCase()}`)];
  });

/** Everything that crosses a wire, by name: what the golden fixtures and the AsyncAPI document are about. */
export const MESSAGES: Readonly<Record<string, MessageSpec>> = Object.fromEntries([
  ['RunRequest', message(RunRequest, 'what external systems ask for: a goal or a constellation')],
  ['SignedRequest', message(SignedRequest, 'a request with the proof of who asks')],
  ['PublishedRequest', message(PublishedRequest, 'a request on the subject of who asks, with or without a proof')],
  ['SubmitAnswer', message(SubmitAnswer, 'the run that a request became, or why it became none')],
  ['SubmitCommand', message(SubmitCommand, 'the verb SUBMIT')],
  ...VERB_COMMANDS,
  ['VerbAnswer', message(VerbAnswer, 'the one final answer of a verb')],
  ['RunCommit', message(RunCommit, 'the events of a run that were decided together')],
  ...events(RecordedRunEvent.options, 'event of a run'),
  ['AttemptCommit', message(AttemptCommit, 'events of one attempt')],
  ...events(RecordedAttemptEvent.options, 'event of an attempt'),
  ['PlanCommit', message(PlanCommit, 'steps of the planner for one run')],
  ...events(RecordedPlanEvent.options, 'step of the planner'),
  ['FleetCommit', message(FleetCommit, 'events of one device')],
  ...events(RecordedFleetEvent.options, 'event of a device'),
  ['ActorCommit', message(ActorCommit, 'events of one person or system')],
  ...events(RecordedActorEvent.options, 'event of a person or system'),
  ['AttentionCommit', message(AttentionCommit, 'what somebody said to one entry of the inbox')],
  ...events(RecordedAttentionEvent.options, 'word about an entry of the inbox'),
  ['AccessRecord', message(AccessRecord, 'who looked at what, or came in, or did not')],
  ['FeedMessage', message(FeedMessage, 'one event of a run for everybody outside, as a CloudEvent')],
  ['DeviceRequest', message(DeviceRequest, 'run a command, stop an attempt, forget a result')],
  ['DeviceAnswer', message(DeviceAnswer, 'what became of a command so far')],
  ['OutputChunk', message(OutputChunk, 'a piece of what a running command writes')],
  ['AgentProfile', message(AgentProfile, 'value of AGENT_PROFILES: one device as the scheduler sees it')],
  ['Presence', message(Presence, 'value of PRESENCE: who holds the socket of a device')],
  ['KnownActor', message(KnownActor, 'value of ACTORS of version 0.1.0: whom a public bus key stands for')],
  ['ActorEntry', message(ActorEntry, 'value of ACTORS: one person or system, with roles, keys, tokens and logins')],
  ['RevokedGrants', message(RevokedGrants, 'value of REVOKED_GRANTS: access tokens that count no more')],
  ['Member', message(Member, 'value of MEMBERS: the sign of life of a replica')],
  ['DeadLetter', message(DeadLetter, 'a message that could not be handled, and why')],
  ['LiveWord', message(LiveWord, 'what a client of the live stream of the console says')],
  ['LiveMessage', message(LiveMessage, 'what the console says on its live stream')],
  ...queries,
  ['QueryError', message(QueryError, 'the answer of a query that cannot be served as asked')],
  ...frames(ClientMessage.options, 'Device'),
  ...frames(ServerMessage.options, 'Server'),
]);

/** `device-agent`, `dlq-retry` -> `DeviceAgentDlqRetry`: the stem of a query's messages. */
export function titleOf(service: string, query: string): string {
  return [...service.split('-'), ...query.split('-')].map(capital).join('');
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
