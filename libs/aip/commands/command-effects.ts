import type {
  AttemptKey,
  CommandCall,
  CommandId,
  CommandOutcome,
  DeviceAnswer,
  JournalId,
  RunCommandRequest,
  SessionId,
} from '#proto';
import type { OutgoingCommand } from './command-message.js';

/* What goes into a CommandTable and comes out of it. */

export interface CommandTableOptions {
  readonly sessionId: SessionId;
  /** Null: a foreign client, which executes whatever it is sent, every time. */
  readonly journalId: JournalId | null;
  /** Undefined: the device did not say. */
  readonly tools: ReadonlySet<string> | undefined;
  /** Whether the device takes what a command reads as files; otherwise it stands in the command. */
  readonly takesStdinFiles?: boolean;
  /** Whether the device keeps workspaces of runs. */
  readonly hasWorkspaces?: boolean;
  /** Commands that may be at the device at once. */
  readonly slots: number;
}

/** A command that is at the device now. */
export interface OpenAtDevice {
  /** Null: it runs from before this connection, and nobody has asked for it here yet. */
  readonly command: CommandCall | null;
}

/** A result as it comes from the device. */
export interface Reported {
  readonly outcome: CommandOutcome;
  /** Size of the frame that it came in. */
  readonly bytes: number;
}

/** A request as the table sees it: with the digest of its content and its size. */
export interface CommandAdmission {
  readonly request: RunCommandRequest;
  readonly digest: string;
  readonly bytes: number;
}

export type TableEffect =
  | { readonly kind: 'send'; readonly command: OutgoingCommand }
  /** For devices of our revision: kill what is open of the attempt, refuse what comes. */
  | { readonly kind: 'stop'; readonly attempt: AttemptKey }
  /** For devices of our revision: the journal may forget the result. */
  | { readonly kind: 'stored'; readonly commandId: CommandId }
  /** Nobody asks for this result: hand it to the keeper of results, then say `delivered`. */
  | { readonly kind: 'deliver'; readonly commandId: CommandId; readonly outcome: CommandOutcome }
  /** The waiter for the command gets this. `sentAtMs` when the device was involved. */
  | Answered;

export interface Answered {
  readonly kind: 'answered';
  readonly commandId: CommandId;
  readonly answer: DeviceAnswer;
  readonly sentAtMs: number | null;
}
