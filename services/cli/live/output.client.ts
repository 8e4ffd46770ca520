import type { NatsConnection } from '@nats-io/transport-node';
import { subjects, type RunId, type TaskId } from '#proto';
import { failure } from '../terminal/index.js';
import { parsePiece, type TaskOutputPiece } from './output-piece.js';

export interface OutputWanted {
  readonly runId: RunId;
  /** Of this task only. */
  readonly taskId?: TaskId | undefined;
}

/**
 * Listens to what tasks write while they run: from now on, for it is stored nowhere. Resolves when the server has heard it.
 * Pieces are handed over as they come and never wait here; what is printed slowly slows the connection down. Gives back
 * what ends the listening.
 */
export async function followOutput(
  nc: NatsConnection,
  { runId, taskId }: OutputWanted,
  onPiece: (piece: TaskOutputPiece) => void,
): Promise<() => void> {
  let refused: Error | undefined;
  const subject = taskId === undefined ? subjects.outputOfRun(runId) : subjects.outputOfTask(runId, taskId);
  const subscription = nc.subscribe(subject, {
    callback: (error, message) => {
      refused = error ?? refused;
      const piece = error === null ? parsePiece(message.subject, message.data) : undefined;
      if (piece !== undefined) onPiece(piece);
    },
  });
  // A refusal comes before the answer to the ping behind it.
  await nc.flush();
  if (refused !== undefined) throw failure('Your key of the bus may not listen to the output of runs.', refused);
  return () => subscription.unsubscribe();
}
