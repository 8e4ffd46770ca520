import type { CommandCall, TaskId } from '#proto';
import type { ToolCalled } from '../effects/index.js';

/** One step of an attempt as its agent remembers it. */
export interface MemoryItem {
  readonly step: number;
  readonly agent: string;
  /** What the agent was working on, where it was given a part of the task. */
  readonly subtask?: string;
  readonly observation: string;
  readonly thought: string;
  readonly plan: readonly string[];
  readonly comment: string;
  readonly status: string;
  readonly notes: readonly string[];
  readonly calls: readonly {
    readonly index: number;
    readonly command: CommandCall;
    readonly ended: ToolCalled['ended'];
  }[];
  readonly answers: readonly { readonly question: string; readonly text: string | null; readonly note: string }[];
  /** What was read on in outputs of earlier steps. */
  readonly reads: readonly MemoryRead[];
  /** Why something that the agent wanted was not even tried. */
  readonly problems: readonly string[];
}

/** What was read again: an output of an earlier step, the result of a task before this one; or what the board of the run said. */
export type MemoryRead =
  | { readonly step: number; readonly index: number; readonly text: string }
  | { readonly task: TaskId; readonly field?: string; readonly text: string }
  | { readonly board: 'read' | 'write'; readonly text: string };

/** All that an agent has done and seen, oldest first. Immutable: what a prompt was made of stays what it was. */
export class Memory {
  static readonly empty = new Memory([]);

  private constructor(readonly items: readonly MemoryItem[]) {}

  /** Steps come in order; a second item of the same step replaces the first, which knew less. */
  add(item: MemoryItem): Memory {
    const last = this.items.at(-1);
    if (last !== undefined && item.step < last.step) {
      throw new RangeError(`step ${item.step} comes after step ${last.step}: memory is kept in the order of the steps`);
    }
    return new Memory(last?.step === item.step ? [...this.items.slice(0, -1), item] : [...this.items, item]);
  }

  static of(items: readonly MemoryItem[]): Memory {
    return items.reduce((memory, item) => memory.add(item), Memory.empty);
  }
}
