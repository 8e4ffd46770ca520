import { z } from 'zod';
import { EditGrant } from './actors.js';
import { ApprovalId } from './approvals.js';
import { BoardAttempt, BoardName, BoardSeen } from './board.js';
import { CommandCall } from './constellation.js';
import { Proposal } from './edits.js';
import { DeviceId, Json, TaskId } from './ids.js';
import { LIMITS } from './limits.js';
import { NoteText } from './run-note.js';
import { CommandWall } from './walls.js';
import { WordsText } from './words.js';

/** Users of the bus that may send verbs. */
export type VerbSender = 'cli' | 'console' | 'aip-gateway' | 'planner' | 'device-agent';

/** How a person says it at a terminal: `orrery <name> <run>`, or `<approval>` where it is about one. */
interface VerbCommand<F extends string> {
  readonly name: string;
  /** One line of the help. */
  readonly what: string;
  readonly examples: readonly string[];
  /** The command line makes its fields by itself: of a file, of a command that is changed. */
  readonly own?: true;
  /** The field that is named behind the run. */
  readonly argument?: {
    readonly field: F;
    readonly word: string;
    /** `-` stands for standard input. */
    readonly stdin?: true;
  };
  /** `least`: a whole number of at least this. */
  readonly options?: readonly {
    readonly field: F;
    readonly flags: string;
    readonly what: string;
    readonly required?: true;
    readonly least?: number;
  }[];
  /** What the help says of `--wait`; without it there is none. */
  readonly wait?: string;
  /** What has happened, without a full stop; the fields, `run`, `sequence` and `new`, the run of a fork, are filled in. */
  readonly done: string;
  /** The same of a word that is one of several that it takes. */
  readonly noted?: string;
}

/** Where the console takes it: `POST /v1/runs/{id}/<path>`. */
interface PathRoute<F extends string> {
  /** A field in braces is taken from the path. */
  readonly path: string;
  readonly what: string;
  /** Its body in the description, and what it is: the field, or all fields. Without it nothing is said in the body. */
  readonly body?: { readonly name: string; readonly required: boolean; readonly field?: F };
  /** Fields that nobody says over HTTP. */
  readonly without?: readonly F[];
}

/** Where the console takes what is about an approval: `POST /v1/approvals` with this word. */
interface DecisionRoute {
  readonly decision: string;
}

interface VerbRow<S extends z.ZodRawShape> {
  /** What is said with it; id and proof are added when it is sent. */
  readonly fields: S;
  readonly senders: readonly VerbSender[];
  readonly command: VerbCommand<keyof S & string>;
  readonly route: PathRoute<keyof S & string> | DecisionRoute;
}

type Rest<S extends z.ZodRawShape> = Omit<VerbRow<S>, 'fields'>;
const row = <S extends z.ZodRawShape, const R extends Rest<S>>(fields: S, rest: R): { readonly fields: S } & R => ({
  fields,
  ...rest,
});

const why = z.string().min(1).max(1_000).optional();
const reason = { field: 'reason', flags: '--reason <text>', what: 'recorded with it' } as const;
const note = { field: 'note', flags: '--note <text>', what: 'recorded with it; the agent is told' } as const;
const WAIT = 'show the run until it ends; the exit code says how';
const OPERATORS = ['cli', 'console'] as const;
/** Who writes on a board: people, assistants through the planner, agents through the service that runs them. */
const WRITERS = [...OPERATORS, 'planner', 'device-agent'] as const;
/** Whose a write is where it is not the sender's own: of who allowed it, or of an attempt. */
const WHOSE = { grant: EditGrant.optional(), attempt: BoardAttempt.optional() } as const;

/**
 * Every verb that changes a run, in the order in which the help lists them. The bodies on the bus, who may send them, the words
 * of the command line, the routes and descriptions of the console are made from this table; what a verb means is decided in
 * libs/constellation, which does not compile without it. docs/operating.md says it to people.
 */
export const VERBS = {
  /** What is pending is cancelled, what runs is stopped on its device; outputs are kept. */
  CANCEL: row(
    { reason: why },
    {
      senders: [...OPERATORS, 'aip-gateway'],
      command: {
        name: 'cancel',
        what: 'end a run: what is pending is cancelled, what runs is stopped; outputs are kept',
        examples: ['orrery cancel 0k3j… --reason "wrong device"', 'orrery cancel 0k3j… --wait'],
        options: [reason],
        wait: `${WAIT} (2 when it was cancelled)`,
        done: 'run {run} is being cancelled (event {sequence})',
      },
      route: {
        path: 'cancel',
        what: 'End a run: pending tasks are cancelled, running ones stopped',
        body: { name: 'Reason', required: false },
      },
    },
  ),
  /** Nothing new starts; what runs goes on. */
  PAUSE: row(
    { reason: why },
    {
      senders: OPERATORS,
      command: {
        name: 'pause',
        what: 'start nothing new in a run; what runs goes on',
        examples: ['orrery pause 0k3j… --reason "maintenance of the database"'],
        options: [reason],
        done: 'run {run} is paused (event {sequence})',
      },
      route: {
        path: 'pause',
        what: 'Start nothing new; what runs goes on',
        body: { name: 'Reason', required: false },
      },
    },
  ),
  RESUME: row(
    {},
    {
      senders: OPERATORS,
      command: {
        name: 'resume',
        what: 'go on with a run that was paused, or start a plan that waits for approval',
        examples: ['orrery resume 0k3j…'],
        done: 'run {run} goes on (event {sequence})',
        noted: 'your word for the plan of run {run} is recorded (event {sequence})',
      },
      route: { path: 'resume', what: 'Go on with a run that was paused' },
    },
  ),
  /** A new attempt of a task in the same run; tasks that were skipped because of it are open again. */
  RETRY: row(
    { taskId: TaskId },
    {
      senders: OPERATORS,
      command: {
        name: 'retry',
        what: 'try a task again that failed or was cancelled; one that runs is stopped first',
        examples: ['orrery retry 0k3j… disk-any --wait'],
        argument: { field: 'taskId', word: '<task>' },
        wait: WAIT,
        done: 'task {taskId} of run {run} is tried again (event {sequence})',
      },
      route: { path: 'tasks/{taskId}/retry', what: 'A new attempt of a task' },
    },
  ),
  /** A new run that goes on from where this one stood after event `at`. */
  FORK: row(
    { at: z.int().min(1) },
    {
      senders: OPERATORS,
      command: {
        name: 'fork',
        what: 'begin a new run where this one stood after an event; prints its id',
        examples: ['orrery fork 0k3j… --at 12 --wait'],
        options: [
          {
            field: 'at',
            flags: '--at <n>',
            what: 'as it stood after this event, or after the last whole commit before it',
            required: true,
            least: 1,
          },
        ],
        wait: 'show the new run until it ends; the exit code says how',
        done: 'run {new} forked from run {run} at event {at}',
      },
      route: {
        path: 'fork',
        what: 'Begin a new run where this one stood after an event',
        body: { name: 'Fork', required: true },
      },
    },
  ),
  /** An edit, by an operator or by the planner of the run. */
  PROPOSE: row(
    {
      proposal: Proposal,
      /** Sent for somebody who allowed it: then the edit is theirs. Taken from the planner, and from who signed it. */
      grant: EditGrant.optional(),
    },
    {
      senders: [...OPERATORS, 'planner'],
      command: {
        name: 'propose',
        what: 'change the constellation of a run, all edits or none',
        examples: [
          'orrery propose 0k3j… -f deploy/examples/rollout-edits.yaml',
          'my-planner | orrery propose 0k3j… -f - --edit-id e1 --try 2 --base-revision 3 --json',
        ],
        own: true,
        done: 'edit of run {run} accepted (event {sequence})',
      },
      route: {
        path: 'edits',
        what: 'Change the constellation, all edits or none',
        body: { name: 'Proposal', required: true, field: 'proposal' },
      },
    },
  ),
  /** One more thing that is wanted of a run: its planner is asked about it, and a run that has ended goes on. It approves nothing. */
  SAY: row(
    {
      text: WordsText,
      /** As with an edit: said for somebody who allowed it. */
      grant: EditGrant.optional(),
    },
    {
      senders: [...OPERATORS, 'planner'],
      command: {
        name: 'say',
        what: 'say one more thing to a run: its planner is asked; one that has ended goes on',
        examples: ['orrery say 0k3j… "also look at db-2" --wait', 'orrery say 0k3j… - < what-we-found.txt'],
        argument: { field: 'text', word: '<text>', stdin: true },
        wait: WAIT,
        done: 'said to run {run} (event {sequence})',
      },
      route: {
        path: 'say',
        what: 'Say one more thing to a run; one that has ended goes on',
        body: { name: 'Words', required: true },
        without: ['grant'],
      },
    },
  ),
  /** Puts a value on the board of a run, where its tasks, agents, planner and people read it. `revision`: what the writer has seen. */
  BOARD_SET: row(
    { name: BoardName, value: Json, revision: BoardSeen.optional(), ...WHOSE },
    {
      senders: WRITERS,
      command: {
        name: 'board set',
        what: 'put a value on the board of a run, where its tasks, agents and planner read it',
        examples: [
          'orrery board set 0k3j… free_gb 120',
          `orrery board set 0k3j… hosts '["db-1","db-2"]' --revision 4`,
          'orrery board set 0k3j… plan - < plan.json',
        ],
        own: true,
        done: '{name} is on the board of run {run} (event {sequence})',
      },
      route: {
        path: 'board/{name}',
        what: 'Put a value on the board of a run',
        body: { name: 'BoardValue', required: true },
        without: ['grant', 'attempt'],
      },
    },
  ),
  /** Takes a value off the board. */
  BOARD_DELETE: row(
    { name: BoardName, revision: BoardSeen.optional(), ...WHOSE },
    {
      senders: WRITERS,
      command: {
        name: 'board delete',
        what: 'take a value off the board of a run',
        examples: ['orrery board delete 0k3j… free_gb', 'orrery board delete 0k3j… free_gb --revision 4'],
        own: true,
        done: '{name} is off the board of run {run} (event {sequence})',
      },
      route: {
        path: 'board/{name}/delete',
        what: 'Take a value off the board of a run',
        body: { name: 'BoardSeen', required: false },
        without: ['grant', 'attempt'],
      },
    },
  ),
  /** A note beside the history, also of a run that has ended: nothing that the run does depends on it. */
  ANNOTATE: row(
    { text: NoteText, taskId: TaskId.optional() },
    {
      senders: OPERATORS,
      command: {
        name: 'annotate',
        what: 'add a note for those who look at a run after you, also when it has ended',
        examples: [
          'orrery annotate 0k3j… "the disk was replaced at noon"',
          'orrery annotate 0k3j… "known to be slow" --task backup',
        ],
        argument: { field: 'text', word: '<text>' },
        options: [{ field: 'taskId', flags: '--task <task>', what: 'the task that it is about' }],
        done: 'note added to run {run} (event {sequence})',
      },
      route: { path: 'notes', what: 'Add a note to a run', body: { name: 'Note', required: true } },
    },
  ),
  /** Lets a device remove the directory that it keeps of a run that has ended. */
  DISCARD: row(
    { deviceId: DeviceId },
    {
      senders: OPERATORS,
      command: {
        name: 'discard',
        what: 'let a device remove the directory that it keeps of a run that has ended',
        examples: ['orrery discard 0k3j… web-1'],
        argument: { field: 'deviceId', word: '<device>' },
        done: '{deviceId} removes the workspace of {run} (event {sequence})',
      },
      route: {
        path: 'workspaces/{deviceId}/discard',
        what: 'Let a device remove the directory that it keeps of a run that has ended',
      },
    },
  ),
  /** Lets a command run: as it is, or as `command` says. `wall`: with this, in place of what was shown. `grantMs`: and the same one on the same device for this long. */
  APPROVE: row(
    {
      approvalId: ApprovalId,
      command: CommandCall.optional(),
      wall: CommandWall.optional(),
      grantMs: z.int().min(1_000).max(LIMITS.grantMsMax).optional(),
      note: why,
    },
    {
      senders: OPERATORS,
      command: {
        name: 'approve',
        what: 'yes: the command runs as it is shown, or as you change it',
        examples: [
          'orrery approve 0k3j….web.1.2.0',
          'orrery approve 0k3j….web.1.2.0 --command "systemctl reload nginx"',
          'orrery approve 0k3j….web.1.2.0 --sandbox internet --sandbox writable=/srv/app',
          'orrery approve 0k3j….web.1.2.0 --grant 10',
        ],
        options: [note],
        own: true,
        done: '{approvalId} is approved{as}{with} (event {sequence})',
        noted: 'your word for {approvalId} is recorded{as}{with} (event {sequence})',
      },
      route: { decision: 'approve' },
    },
  ),
  /** A no; of an approval that was given, its grant is taken back. */
  REJECT: row(
    { approvalId: ApprovalId, note: why },
    {
      senders: OPERATORS,
      command: {
        name: 'reject',
        what: 'no: the agent is told, and may try something else; takes a grant back, too',
        examples: ['orrery reject 0k3j….web.1.2.0 --note "not during office hours"'],
        options: [note],
        done: '{approvalId} is rejected (event {sequence})',
      },
      route: { decision: 'reject' },
    },
  ),
  ANSWER: row(
    { approvalId: ApprovalId, text: z.string().min(1).max(20_000) },
    {
      senders: OPERATORS,
      command: {
        name: 'answer',
        what: 'answer what an agent has asked',
        examples: ['orrery answer 0k3j….web.1.3.0 "port 8443"'],
        argument: { field: 'text', word: '<text>' },
        done: '{approvalId} is answered (event {sequence})',
      },
      route: { decision: 'answer' },
    },
  ),
} as const;

export type RunVerb = keyof typeof VERBS;
export const RUN_VERBS = Object.keys(VERBS) as RunVerb[];

/** The rows as those read them who treat all verbs alike. */
export const VERB_ROWS: Readonly<Record<RunVerb, VerbRow<z.ZodRawShape>>> = VERBS;

export type VerbPath = PathRoute<string> & { readonly verb: RunVerb };

/** The verbs that are said to a run, with where. */
export const VERB_PATHS = RUN_VERBS.flatMap((verb): VerbPath[] => {
  const { route } = VERB_ROWS[verb];
  return 'path' in route ? [{ verb, ...route }] : [];
});

/** The verbs that are said about an approval, with the word for each. */
export const VERB_DECISIONS = RUN_VERBS.flatMap((verb) => {
  const { route } = VERB_ROWS[verb];
  return 'decision' in route ? [{ verb, ...route }] : [];
});

/** The verbs whose fields the command line makes by itself. */
export type OwnVerb = {
  [V in RunVerb]: (typeof VERBS)[V]['command'] extends { readonly own: true } ? V : never;
}[RunVerb];
