import { z } from 'zod';
import {
  RecordedActorEvent,
  RecordedAttemptEvent,
  RecordedAttentionEvent,
  RecordedFleetEvent,
  RecordedPlanEvent,
  RecordedRunEvent,
  schemaVersionOf,
  STREAMS,
  type ActorEventType,
  type AttemptEventType,
  type AttentionEventType,
  type FleetEventType,
  type PlanEventType,
  type RunEventType,
} from '#proto';

/** What each says, in one sentence; the compiler knows when one is missing. */
const RUN: Record<RunEventType, string> = {
  RUN_REQUESTED: 'somebody asked for a run, and it was taken',
  RUN_FORKED: 'a run begins where another one stood after an event; it needs nothing of the other one',
  CONSTELLATION_MODIFIED:
    'the plan became this revision: made, or edited; an edit that changes nothing keeps the revision and ends its round',
  EDIT_OPENED: 'the planner is asked, because of its triggers; what the lock policy covers waits',
  EDIT_REJECTED: 'a proposal broke rules; nothing of it was applied, and it may be mended',
  EDIT_ABANDONED: 'the round ended without a change',
  TASKS_WAITING: 'ready tasks began, or stopped, to wait for a device that could take them',
  FAN_OUT_STARTED: 'a task on several devices chose them; they are fixed from here on',
  WAVE_STARTED: 'the next of its devices begin; each has a task of its own from here on',
  TASK_STARTED: 'an attempt of a task began on this device: the order and the assignment at once',
  TASK_COMPLETED: 'the attempt delivered; lines behind it were judged',
  TASK_FAILED: 'the attempt, or the task without one, failed; lines behind it were judged when it was the last try',
  TASK_STOP_REQUESTED: 'a running attempt was told to stop',
  TASK_REOPENED: 'the task is to be tried again: by its retry policy, by an operator, or by an edit',
  TASK_SKIPPED: 'a line into the task cannot be satisfied any more',
  TASK_CANCELLED: 'the task was ended from outside',
  APPROVAL_REQUESTED: 'an attempt waits for a person',
  APPROVAL_GIVEN: 'one of several persons who are needed has said yes',
  APPROVAL_DECIDED: 'what was asked is decided; or a grant was taken back',
  PLAN_ACCEPTED: 'one of several persons who are needed has accepted this revision of the plan',
  RUN_COMPLETED: 'all that could be done is done, wholly or in parts',
  RUN_FAILED: 'the run came to nothing',
  RUN_CANCELLED: 'somebody ended the run',
  RUN_PAUSED: 'nothing new starts; what runs goes on',
  RUN_RESUMED: 'it goes on; or a plan that waited was accepted',
  WORDS_SAID: 'somebody said one more thing to the run; the planner is asked about it',
  BOARD_WRITTEN: 'a value was put on the board of the run, or taken off',
  WORKSPACE_DISCARDED: 'a device may remove the directory that it keeps of the run, which has ended',
  RUN_REOPENED: 'the end was taken back, by a retry or by something said to the run; the deadline counts anew',
  RUN_ANNOTATED: 'a note beside the history: of a person, a late result, or an evaluation',
};
const ATTEMPT: Record<AttemptEventType, string> = {
  ATTEMPT_RESUMED: 'another process goes on with it',
  ATTEMPT_SIGNALLED: 'the run said something to it: stop, or what a person decided',
  STEP_PLANNED: 'the model spoke, and what it said can be used',
  STEP_FAILED: 'no reply of the model could be used; the end follows',
  COMMAND_JUDGED: 'what the policy says about a command, before anything is done with it',
  ATTEMPT_ASKED: 'the attempt waits for a person',
  COMMAND_ISSUED: 'the command may run: recorded before it is sent',
  COMMAND_FINISHED: 'what became of a command',
  BOARD_USED: 'an agent read or wrote the board of its run, and what it was told',
  POSTCONDITION_CHECKED: 'whether what the task had to reach holds',
  PICTURES_DROPPED: 'the run has ended, and its policy keeps these pictures of screens no longer',
  ATTEMPT_FINISHED: 'the one end of the attempt',
};
const PLAN: Record<PlanEventType, string> = {
  ROUND_PLANNED: 'what the planner came to in one try of a round, with all calls of models',
  ROUND_FAILED: 'no plan could be made',
  PLAN_PROPOSED: 'what is put to the orchestrator, which judges it',
  RUN_EVALUATED: 'a finished run was judged',
  RUN_SUMMARISED: 'a finished run was made into an example',
};
const FLEET: Record<FleetEventType, string> = {
  DEVICE_ENROLLED: 'a device is admitted, or given a new way to prove who it is',
  DEVICE_JOINED: 'a client used the join token and bound its own key to the device',
  DEVICE_CONNECTED: 'the device has a session',
  DEVICE_PROFILE_CHANGED: 'an administrator said what the device is: places, roles, cards, free names',
  DEVICE_TOOLS_CHANGED: 'in the same session it names other tools',
  DEVICE_CONTENDED: 'several clients take its session from each other',
  DEVICE_SUSPECT: 'its connection broke; it has until `lostAt` to come back',
  DEVICE_LOST: 'it did not come back in time; its attempts end',
  DEVICE_HELD: 'nothing new starts there, or on any device; with `screen` a person has its screen',
  DEVICE_RELEASED: 'tasks may start there again',
  DEVICE_REVOKED: 'nobody is this device any more until it is enrolled anew',
  CLIENT_ENROLLED: 'a client that sends tasks is admitted',
  CLIENT_REVOKED: 'it is nobody any more',
  GRANTS_REVOKED: 'access tokens that count no more',
};
const ACTOR: Record<ActorEventType, string> = {
  ACTOR_ADDED: 'a person, a system or a service is known from now on',
  ROLES_CHANGED: 'roles were given or taken',
  LIMITS_GIVEN: 'how much an external system may take',
  KEY_ADDED: 'a key of the bus is theirs',
  KEY_REVOKED: 'it counts no more; what was signed before stays valid',
  TOKEN_ISSUED: 'a token for the console was made; its hash is here, never the token',
  TOKEN_REVOKED: 'it counts no more',
  TOKEN_USED: 'it was used, and had not been for a while',
  LOGIN_BOUND: 'who logs in so at the identity provider is this person',
  LOGIN_UNBOUND: 'no longer',
  CONTENT_APPROVED: 'a person approves a content for a time: the same needs no other word',
  CONTENT_REVOKED: 'that word was taken back',
  ACTOR_REVOKED: 'they are nobody any more, for good',
};
const ATTENTION: Record<AttentionEventType, string> = {
  ATTENTION_TAKEN: 'somebody takes it on: from whoever had it before',
  ATTENTION_SETTLED: 'nobody has to look at it any more; what happens anew is another entry',
};

interface Log {
  /** Of an event: only what is read of its schema here. */
  readonly options: readonly { readonly shape: object }[];
}

/** What is stored for ever, by stream. */
export const LOGS: Readonly<
  Partial<Record<keyof typeof STREAMS, readonly [log: Log, means: Readonly<Record<string, string>>]>>
> = {
  RUNS: [RecordedRunEvent, RUN],
  ATTEMPTS: [RecordedAttemptEvent, ATTEMPT],
  PLANS: [RecordedPlanEvent, PLAN],
  FLEET: [RecordedFleetEvent, FLEET],
  ACTORS: [RecordedActorEvent, ACTOR],
  ATTENTION: [RecordedAttentionEvent, ATTENTION],
};

/** The tables of docs/events.md, from the schemas. */
export function eventTables(): string {
  return Object.entries(LOGS)
    .map(([stream, [{ options }, means]]) => {
      const { subjects, description } = STREAMS[stream as keyof typeof LOGS];
      const rows = options.map(({ shape }) => {
        const { type, data } = shape as { type: z.ZodLiteral<string>; data: z.ZodType };
        const { value } = type;
        return `| \`${value}\` | ${schemaVersionOf(value)} | ${means[value] ?? ''} | ${fieldsOf(data)} |`;
      });
      const on = subjects.map((subject) => `\`${subject}\``).join(', ');
      return `## ${stream}\n\n${on}: ${description}.\n\n| Type | Version | Says | Data |\n| - | - | - | - |\n${rows.join('\n')}\n`;
    })
    .join('\n');
}

interface Json {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Json[];
  readonly oneOf?: readonly Json[];
  readonly allOf?: readonly Json[];
}

/** Names of what an event says; one with a `?` may be absent. Of one that has several forms, what any of them has. */
function fieldsOf(data: z.ZodType): string {
  const forms = formsOf(z.toJSONSchema(data, { io: 'output', unrepresentable: 'any', reused: 'inline' }));
  const names = new Set(forms.flatMap(({ properties = {} }) => Object.keys(properties)));
  const isSure = (name: string): boolean => forms.every(({ required = [] }) => required.includes(name));
  return [...names].map((name) => `\`${name}${isSure(name) ? '' : '?'}\``).join(' ');
}

function formsOf(schema: Json): Json[] {
  const among = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  return among === undefined ? [schema] : among.flatMap(formsOf);
}
