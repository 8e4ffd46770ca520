import type { z } from 'zod';
import type {
  ArtifactRef,
  CommandCall,
  DeviceId,
  FilePattern,
  Json,
  Note,
  Prompt,
  TaskId,
  ToolInfo,
  WorkspaceFile,
} from '#proto';
import type {
  AgentReply,
  BoardUse,
  BoardUsed,
  ModelFailed,
  ModelReplied,
  PersonAnswered,
  ToolCalled,
} from '#libs/attempt';

export type {
  AgentReply,
  BoardUse,
  BoardUsed,
  ModelFailed,
  ModelReplied,
  PersonAnswered,
  ToolCalled,
} from '#libs/attempt';

/**
 * What an agent wants done in the world. Agents are generators: they yield an effect and are given its outcome, so they wait
 * for nothing themselves. The device-agent records each outcome before the agent sees it; after a crash the agent
 * is run again from its beginning and is given the recorded outcomes, so nothing is asked or done twice. An agent therefore
 * must depend on its task and on outcomes only: no clock, no dice, no state from elsewhere.
 */
export type Effect = AskModel | CallTool | AskPerson | ReadOutput | ReadInput | UseBoard;

/** Asks the model of `agent` for one reply; begins the next step of the attempt. */
export interface AskModel {
  readonly kind: 'ask-model';
  readonly agent: string;
  /** Made only when the model is really asked. `boundary`: random, new in every call; device output is fenced with it. */
  readonly prompt: (boundary: string) => Prompt;
  readonly schema: z.ZodType<AgentReply>;
  /** Why something that the last reply wanted was not even tried: it is in the prompt, and recorded for people. */
  readonly told?: readonly string[];
}

/** Makes one call of a tool on the device, if the command policy, and perhaps a person, lets it. Belongs to the current step. */
export interface CallTool {
  readonly kind: 'call-tool';
  readonly command: CommandCall;
  /** The agent wants a person to confirm it, whatever the policy says. */
  readonly confirm?: true;
  /** What a person who is asked is shown: the place where it would act, as its agent has seen it. */
  readonly shows?: ShownPlace;
}

/** A place in a picture that the agent was given by its device. */
export interface ShownPlace {
  readonly picture: ArtifactRef;
  /** Left, top, right and bottom, in points of the picture; the last two are the first that do not belong to it. */
  readonly box: readonly [left: number, top: number, right: number, bottom: number];
}

/** Asks a person something only a person can know. */
export interface AskPerson {
  readonly kind: 'ask-person';
  readonly question: string;
}

/** Reads on in an output that was shown in part. Touches no device; its outcome is not recorded, it is the same every time. */
export interface ReadOutput {
  readonly kind: 'read-output';
  readonly step: number;
  readonly index: number;
  readonly stream: 'stdout' | 'stderr' | 'result';
  /** From 1. */
  readonly fromLine: number;
  readonly lines: number;
  /** Only lines that contain this text. */
  readonly containing?: string;
}

/** Reads on in what a predecessor answered, whole. Touches no device; its outcome is not recorded, it is the same every time. */
export interface ReadInput {
  readonly kind: 'read-input';
  readonly taskId: TaskId;
  /** A field of the result; its text when absent. */
  readonly field?: string;
  /** From 1. */
  readonly fromLine: number;
  readonly lines: number;
  /** Only lines that contain this text. */
  readonly containing?: string;
  /** From 0; instead of a line. */
  readonly fromByte?: number;
}

/** Reads or writes the board of the run. Touches no device; what it was told is recorded, for others write there, too. */
export interface UseBoard {
  readonly kind: 'use-board';
  readonly use: BoardUse;
}

export type EffectOutcome = ModelReplied | ModelFailed | ToolCalled | PersonAnswered | OutputRead | BoardUsed;

export interface OutputRead {
  readonly kind: 'read';
  readonly text: string;
  readonly totalLines: number;
}

/** A predecessor's result, as data. */
export interface AgentInput {
  readonly taskId: TaskId;
  /** The field of its result that it is; the whole when absent. */
  readonly field?: string;
  readonly value: Json;
  /** Strings of the result that are cut; `read-input` reads the whole. */
  readonly cut?: readonly string[];
}

/**
 * What an agent is given: all of it is in TASK_STARTED, in the profile that the device had when the attempt began, or in what
 * predecessors answered. The same again when the agent is run again, whatever the device is by then.
 */
export interface AgentTask {
  readonly taskId: TaskId;
  readonly name: string;
  readonly description: string;
  readonly tips: readonly string[];
  readonly inputs: readonly AgentInput[];
  /** The directory of the run on the device, where there is one: what lies there of others for the task, and patterns of what it has to leave. */
  readonly workspace?:
    | { readonly brought: readonly Pick<WorkspaceFile, 'path' | 'bytes'>[]; readonly leaves: readonly FilePattern[] }
    | undefined;
  readonly blackboard: readonly { readonly taskId: TaskId; readonly deviceId: DeviceId; readonly note: Note }[];
  readonly device: {
    readonly deviceId: DeviceId;
    readonly os: string;
    readonly arch: string;
    readonly hostname: string;
    readonly tools: readonly ToolInfo[];
    /** What its administrator says of it by name; absent: nothing. */
    readonly given?: readonly (readonly [name: string, value: Json])[] | undefined;
  };
  /** Turns in all, of all agents of the attempt together. */
  readonly stepsMax: number;
}

/** How the work ended, in the agent's own words; the post-condition is not its business. */
export type AgentEnd =
  | { readonly kind: 'finished'; readonly result: Json; readonly notes: readonly Note[] }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      readonly result: Json;
      readonly notes: readonly Note[];
    };

/** One attempt of an agent: yields effects, is given outcomes, returns how it ended. */
export type AgentProgram = Generator<Effect, AgentEnd, EffectOutcome>;

/** A kind of agent that devices can have, by the name that AgentProfiles carry. */
export interface AgentKind {
  readonly name: string;
  run(task: AgentTask): AgentProgram;
}
