import type { ArtifactRef, BoardName, CommandCall, CommandOutcome, Json, Note, TaskResult, Usage } from '#proto';

/** What every agent's reply can be read as, for the record and for people. */
export interface AgentReply {
  readonly observation: string;
  readonly thought: string;
  readonly plan: readonly string[];
  readonly comment: string;
  readonly notes: readonly Note[];
}

export interface ModelReplied {
  readonly kind: 'replied';
  readonly step: number;
  /** As the effect's schema parsed it. */
  readonly reply: AgentReply;
  /** What the calls for it have used up, for those who look on; absent where nobody counted. */
  readonly used?: Usage;
}

/** No reply could be had, or none that could be used, after all repairs. */
export interface ModelFailed {
  readonly kind: 'model-failed';
  readonly step: number;
  readonly code: string;
  readonly message: string;
}

/** What became of a call. `command` is what really ran: a person may have changed it. */
export interface ToolCalled {
  readonly kind: 'called';
  readonly step: number;
  readonly index: number;
  readonly command: CommandCall;
  readonly ended:
    | {
        readonly kind: 'finished';
        readonly state: CommandOutcome['state'];
        readonly result: TaskResult | null;
        readonly message: string | null;
      }
    /** It did not run: the policy, the device, or a person said no; or there is no such tool. */
    | {
        readonly kind: 'refused';
        readonly by: 'policy' | 'person' | 'device';
        readonly code: string;
        readonly message: string;
      };
}

/** A picture that a tool answered with, by its content in ARTIFACTS. */
export interface CalledImage {
  readonly name: string;
  readonly mediaType: string;
  readonly ref: ArtifactRef;
}

/** The pictures of an answer, in its order; those that are not kept are none. */
export function imagesOf(ended: ToolCalled['ended']): readonly CalledImage[] {
  const files = ended.kind === 'finished' ? (ended.result?.files ?? []) : [];
  return files.flatMap(({ name, mediaType, artifact }) =>
    artifact !== undefined && mediaType.startsWith('image/') ? [{ name, mediaType, ref: artifact }] : [],
  );
}

export interface PersonAnswered {
  readonly kind: 'answered';
  readonly step: number;
  /** Null: nobody answered in time, or somebody refused to; `note` says why. */
  readonly text: string | null;
  readonly note: string;
}

/** What an agent wants of the board of its run. */
export type BoardUse =
  | {
      readonly does: 'read';
      /** The whole board, in short, without one. */
      readonly name?: BoardName;
      /** From 1. */
      readonly fromLine: number;
      readonly lines: number;
      /** Only lines that contain this text. */
      readonly containing?: string;
    }
  | {
      readonly does: 'write';
      readonly name: BoardName;
      readonly value: Json;
      /** What it has seen there; 0: nothing. */
      readonly revision?: number;
    };

/** What an agent is told of the board. */
export interface BoardTold {
  /** False: nothing stood there, or nothing was written. */
  readonly done: boolean;
  readonly text: string;
}

export interface BoardUsed extends BoardTold {
  readonly kind: 'used-board';
  readonly step: number;
  readonly index: number;
}
