import type { TaskId } from '#proto';

/** A fact that one agent shares with the others of its run or session. */
export interface BlackboardEntry {
  readonly agent: string;
  /** The task in which it was noted; absent for the task at hand. */
  readonly taskId?: TaskId;
  readonly text: string;
}

/** What agents tell each other, oldest first. Immutable; the same fact of the same agent stands there once. */
export class Blackboard {
  private constructor(readonly entries: readonly BlackboardEntry[]) {}

  static of(entries: readonly BlackboardEntry[]): Blackboard {
    return entries.reduce((board, entry) => board.post(entry), new Blackboard([]));
  }

  post(entry: BlackboardEntry): Blackboard {
    const isThere = this.entries.some(
      ({ agent, taskId, text }) => agent === entry.agent && taskId === entry.taskId && text === entry.text,
    );
    return isThere ? this : new Blackboard([...this.entries, entry]);
  }
}
