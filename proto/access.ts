import { z } from 'zod';
import { ACTOR_EVENT_TYPES, Login, Roles } from './actor-events.js';
import { Actor, ActorId, BusKey, Vouched } from './actors.js';
import { DeviceId, idSchema, Instant, RunId, Sha256, TaskId } from './ids.js';

/** What somebody did who changed nothing: looked at what is recorded, took it along, checked it, came in or did not. */
export const AccessWhat = z.enum([
  /** The state of a run, with the results of its tasks. */
  'RUN_READ',
  'REPORT_READ',
  'EVENTS_READ',
  /** What tasks write, while they run or as it is kept; what agents thought and did. */
  'OUTPUT_READ',
  /** Commands and outputs of all runs, for what was looked for in them. */
  'SEARCHED',
  'EXPORTED',
  'VERIFIED',
  'LOGGED_IN',
  'LOGGED_OUT',
  'LOGIN_REFUSED',
]);
export type AccessWhat = z.infer<typeof AccessWhat>;

const about = {
  /** Absent: of all runs, or of none. */
  runId: RunId.optional(),
  /** Absent: of all its tasks. */
  taskId: TaskId.optional(),
  /** The content that was fetched by its name. */
  artifact: Sha256.optional(),
  /** The device whose screen was shown, as it was then. */
  deviceId: DeviceId.optional(),
  /**
   * SHA-256 of the words that were looked for, in UTF-8: who suspects a question can compare it. Not the words themselves, for who looks
   * whether a password has leaked writes it.
   */
  asked: Sha256.optional(),
  /** By which login; without a session for who was not let in. */
  login: Login.extend({ session: Vouched.shape.session.optional() }).optional(),
  /** The other end of the connection; where a proxy is in between, that is the proxy. */
  peer: z.string().min(1).max(64).optional(),
  /** How many there were since the record before, where not each has one. */
  times: z.int().min(2).optional(),
} as const;

/**
 * One message of `orrery.access.>`, stored before what it tells of is shown. Who it was says the subject, and when says the server: `key.<key>`
 * may be written by this key only; `<service>.<actor>` by a service for who came in there, `_` for nobody.
 */
export const AccessRecord = z.strictObject({
  /** Said again with the same id it is stored once. */
  id: idSchema('the id of a record'),
  what: AccessWhat,
  /** Whom a service has let in; absent where a key speaks for itself, and for who was not let in. */
  actor: Actor.optional(),
  ...about,
});
export type AccessRecord = z.infer<typeof AccessRecord>;

/** The facts about people and systems that are told beside the records; that a token was used is a login. */
const CHANGES = ACTOR_EVENT_TYPES.filter((type) => type !== 'TOKEN_USED');

/** Everything that is told of in the list of who did what: records, changes of people, and what should be a record and is none. */
export const AccessKind = z.enum([...AccessWhat.options, ...CHANGES, 'UNREADABLE']);
export type AccessKind = z.infer<typeof AccessKind>;

/** One line of the list. */
export const AccessEntry = z.strictObject({
  /** By the clock of the bus, which nobody who writes can set. */
  at: Instant,
  what: AccessKind,
  /** Null: nobody who is known. */
  actor: Actor.nullable(),
  /** `key`: by a key of his own, which the bus or a signature has checked; `vouched`: a service says so; `none`: nobody says who it was. */
  proof: z.enum(['key', 'vouched', 'none']),
  key: BusKey.optional(),
  ...about,
  /** Whom a change is about. */
  subject: ActorId.optional(),
  given: Roles.optional(),
  taken: Roles.optional(),
  /** What a reader should know, e.g. why something is unreadable. */
  note: z.string().optional(),
  stream: z.enum(['ACCESS', 'ACTORS']),
  /** In that stream. */
  sequence: z.int().min(1),
});
export type AccessEntry = z.infer<typeof AccessEntry>;

/** Up to where the list was told, in each of its streams; in one of which nothing was told yet, it is not named. */
export const AccessPlace = z.strictObject({ access: z.int().min(0).optional(), actors: z.int().min(0).optional() });
export type AccessPlace = z.infer<typeof AccessPlace>;
