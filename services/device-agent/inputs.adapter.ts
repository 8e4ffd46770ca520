import type { ArtifactRef, AttemptCommit, AttemptFinished, AttemptKey, Json, TaskResult } from '#proto';
import type { AttemptLog, Stored } from '#libs/event-log';
import type { AttemptOrder } from './attempt.js';
import { sourcesOf, type Input } from './stdin.js';

/** Where large answers lie, by the SHA-256 of their content. */
export interface Artifacts {
  put(content: Uint8Array): Promise<ArtifactRef>;
  /** Checked on read; throws ArtifactError. */
  get(sha256: string): Promise<Uint8Array>;
}

/**
 * What the predecessors answered, as the ends of the attempts that TASK_STARTED names hold it; cut ones come whole from
 * ARTIFACTS. An attempt that was made before a fork is read where it was recorded: in the run that made it.
 */
export async function readInputs(
  { key, start }: AttemptOrder,
  { attempts, artifacts }: { attempts: AttemptLog; artifacts: Artifacts },
): Promise<Input[]> {
  if (sourcesOf(start.command).length === 0) return [];
  return Promise.all(
    start.inputs.map(async ({ taskId, attempt, runId = key.runId }) => {
      const source: AttemptKey = { runId, taskId, attempt };
      const { tool, result } = endOf(await attempts.load(source));
      return { taskId, tool, value: result === null ? null : await wholeOf(result, artifacts) };
    }),
  );
}

function endOf(stored: readonly Stored<AttemptCommit>[]): { tool: string | null; result: TaskResult | null } {
  const events = stored.flatMap(({ commit }) => commit.events);
  const end = events.find((event) => event.type === 'ATTEMPT_FINISHED');
  const result = end === undefined ? null : resultOf(end.data);
  const command = events.find((event) => event.type === 'COMMAND_FINISHED');
  return { tool: result === null ? null : (command?.data.command.tool ?? null), result };
}

/** A failed command's output is a result all the same. */
function resultOf(end: AttemptFinished): TaskResult | null {
  return end.status === 'completed' ? end.result : (end.error.output ?? null);
}

async function wholeOf({ value, artifact }: TaskResult, artifacts: Artifacts): Promise<Json> {
  if (artifact === undefined) return value;
  return JSON.parse(new TextDecoder().decode(await artifacts.get(artifact.sha256))) as Json;
}
