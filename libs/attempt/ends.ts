import type { TaskResult } from '#proto';
import type { AgentEnding } from './agent-ending.js';

/** Thrown where an attempt ends before its agent says so: its budget is used up, or its past is not the one that it remembers. */
export class Ends extends Error {
  override readonly name = 'Ends';
  readonly ending: AgentEnding;
  constructor(ending: AgentEnding) {
    super(ending.kind === 'failed' ? ending.message : 'it is done');
    this.ending = ending;
  }

  /** The same end, with what the agent had come to. */
  keeping({ result, notes }: { readonly result: TaskResult; readonly notes?: readonly string[] }): Ends {
    if (this.ending.kind === 'completed') return this;
    return new Ends({ ...this.ending, output: result, ...(notes !== undefined && { notes }) });
  }
}

/** A program that throws is a defect of the agent, not of the world: the attempt ends and says so. */
export function agentError(error: unknown): Ends {
  const said = error instanceof Error ? error.message : String(error);
  const message = `the agent itself went wrong: ${said.slice(0, 1_000)}`;
  return new Ends({ kind: 'failed', code: 'AGENT_ERROR', message });
}
