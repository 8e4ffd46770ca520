import type { ContentPart, Json, ToolInfo } from '#proto';
import type { AgentReply } from '../effects/index.js';
import type { MemoryItem } from '../memory/index.js';
import type { Turn } from './effects.js';

/** A reply that may name one call, and says where to go. */
export interface ActingReply extends AgentReply {
  readonly action: {
    /** Name of a tool; empty for no call. */
    readonly function: string;
    readonly arguments: Readonly<Record<string, Json>>;
    readonly status: string;
  };
  readonly result: string;
}

/** What a round has done; everything in it goes into the agent's memory. */
export type Done = Pick<MemoryItem, 'status' | 'calls' | 'answers' | 'reads' | 'problems'>;

/** The values of a round, as the strategies of the template know them. */
export interface RoundValues<R extends AgentReply = AgentReply> {
  /** What the agent may call: the tools of the device and its own. */
  tools: readonly ToolInfo[];
  /** What is to be seen; an agent that looks at nothing has an empty one. */
  observation: readonly ContentPart[];
  turn: Turn<R>;
  done: Done;
  remembered: MemoryItem;
}
