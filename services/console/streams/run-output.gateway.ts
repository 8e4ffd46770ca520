import type { ServerResponse } from 'node:http';
import { evolveCommit, findTask, isTerminal } from '#libs/constellation';
import { readCommits } from '#libs/event-log';
import { followedRun, OutputDeniedError, type FollowedCommit } from '#libs/output';
import { parseJson, RunCommit, subjects, type RunId, type TaskId } from '#proto';
import { RefusedError } from '../http/index.js';
import { storedRun } from './stored-run.adapter.js';
import { beginStream, drained, endForGood, SseResponses } from './sse-responses.adapter.js';
import { sseOutput } from './sse.js';

interface OutputOf {
  readonly runId: RunId;
  /** Of this task only. */
  readonly taskId?: TaskId | undefined;
}

/**
 * What the tasks of a run write, as Server-Sent Events, from its beginning to the end of the run: a client that comes late, or again, gets
 * what was written before. At the pace of who reads it; who reads nothing is dropped.
 */
export class RunOutput extends SseResponses<OutputOf> {
  protected async follow({ runId, taskId }: OutputOf, response: ServerResponse, signal: AbortSignal): Promise<void> {
    let run = await storedRun(this.nc, runId);
    if (isTerminal(run)) return endForGood(response);
    if (taskId !== undefined && findTask(run, taskId) === undefined) {
      throw new RefusedError({ code: 'NOT_FOUND', message: `Run ${runId} has no task ${taskId}.` });
    }
    const quiet = beginStream(response, this.limits.heartbeatMs);
    try {
      const options = { runId, taskId, isWhole: true, signal };
      for await (const item of followedRun(this.nc, options, (until) => this.#commits(runId, until))) {
        if (item.kind === 'commit') {
          if (item.commit.number > run.number) run = evolveCommit(run, item.commit);
          if (item.behind === 0 && isTerminal(run)) break;
        } else if (item.kind === 'piece' && item.piece.text !== '') {
          const { taskId: _task, attempt: _attempt, ...chunk } = item.piece;
          const isTaken = this.write(response, sseOutput(chunk));
          if (!isTaken && !(await drained(response, signal, this.limits.drainMsMax))) return void response.destroy();
        }
      }
      response.end();
    } catch (error) {
      if (!(error instanceof OutputDeniedError)) throw error;
      response.destroy();
    } finally {
      quiet();
    }
  }

  async *#commits(runId: RunId, signal: AbortSignal): AsyncGenerator<FollowedCommit> {
    const filter = subjects.run(runId);
    for await (const { data, pending } of readCommits(this.nc, 'RUNS', { afterSequence: 0, filter, signal })) {
      yield { commit: RunCommit.parse(parseJson(data)), behind: pending };
    }
  }
}
