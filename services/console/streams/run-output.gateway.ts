import type { ServerResponse } from 'node:http';
import { emptyRun, evolveCommit, findTask, isTerminal, type Run } from '#libs/constellation';
import { readCommits } from '#libs/event-log';
import { OutputChunk, parseWith, RunCommit, subjects, parseJson, type RunId, type TaskId } from '#proto';
import { RefusedError } from '../http/index.js';
import { beginStream, drained, endForGood, SseResponses } from './sse-responses.adapter.js';
import { sseOutput } from './sse.js';

interface OutputOf {
  readonly runId: RunId;
  /** Of this task only. */
  readonly taskId?: TaskId | undefined;
}

/**
 * What the tasks of a run write while they run, as Server-Sent Events, to the end of the run. It is stored nowhere: a client
 * gets what is written from now on, and one that is slow gets less, or is dropped.
 */
export class RunOutput extends SseResponses<OutputOf> {
  /** The run is read to its end and further: that it is over stands in its log only. */
  protected async follow(of: OutputOf, response: ServerResponse, signal: AbortSignal): Promise<void> {
    await this.mustBeKnown(of.runId);
    let run: Run = emptyRun(of.runId);
    let stop: (() => void) | undefined;
    try {
      const filter = subjects.run(of.runId);
      for await (const { data, pending } of readCommits(this.nc, 'RUNS', { afterSequence: 0, filter, signal })) {
        run = evolveCommit(run, RunCommit.parse(parseJson(data)));
        if (pending > 0) continue;
        if (isTerminal(run)) break;
        stop ??= await this.#begin(of, run, { response, signal });
      }
    } finally {
      stop?.();
    }
    if (stop !== undefined) response.end();
    else if (!signal.aborted) endForGood(response);
  }

  /** Gives back what ends it. The client hears that it has begun when the server of the bus has heard what it wants. */
  async #begin(of: OutputOf, run: Run, { response, signal }: Client): Promise<() => void> {
    const { runId, taskId } = of;
    if (taskId !== undefined && findTask(run, taskId) === undefined) {
      throw new RefusedError({ code: 'NOT_FOUND', message: `Run ${runId} has no task ${taskId}.` });
    }
    let refused = false;
    let begun = false;
    let behind = false;
    const catchUp = async (): Promise<void> => {
      behind = true;
      if (!(await drained(response, signal, this.limits.drainMsMax))) response.destroy();
      behind = false;
    };
    const send = (text: string): void => {
      // What is left out shows in the offset of the next piece.
      if (!begun || behind || signal.aborted) return;
      if (!this.write(response, text)) void catchUp();
    };
    const subject = taskId === undefined ? subjects.outputOfRun(runId) : subjects.outputOfTask(runId, taskId);
    const subscription = this.nc.subscribe(subject, {
      callback: (error, message) => {
        refused ||= error !== null;
        const chunk = error === null ? parseChunk(message.subject, message.data) : undefined;
        if (chunk !== undefined) send(sseOutput(chunk));
      },
    });
    try {
      // A refusal comes before the answer to the ping behind it.
      await this.nc.flush();
      if (refused)
        throw new RefusedError({ code: 'UNAUTHORIZED', message: 'This console may not listen to output.' }, 403);
    } catch (error) {
      subscription.unsubscribe();
      throw error;
    }
    const quiet = beginStream(response, this.limits.heartbeatMs);
    begun = true;
    return () => {
      quiet();
      subscription.unsubscribe();
    };
  }
}

interface Client {
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

/** Undefined for what is no piece of the command whose subject it came on. */
function parseChunk(subject: string, data: Uint8Array): OutputChunk | undefined {
  const parsed = parseWith(OutputChunk, parseJson(data));
  return parsed.ok && subjects.output(parsed.value.commandId) === subject ? parsed.value : undefined;
}
