import type { NatsConnection } from '@nats-io/transport-node';
import { conversationOf, emptyRun, evolveCommit, runBoardOf, type Run } from '#libs/constellation';
import { readStored } from '#libs/event-log';
import { LIMITS, parseJson, RunCommit, subjects, type ConversationItem, type RunBoard, type RunId } from '#proto';
import { RefusedError } from '../http/index.js';

/** What was said in a run so far, the last of it. Throws RefusedError when there is no run. */
export async function storedConversation(nc: NatsConnection, runId: RunId): Promise<ConversationItem[]> {
  let items: ConversationItem[] = [];
  let isThere = false;
  for await (const { data } of readStored(nc, 'RUNS', subjects.run(runId))) {
    isThere = true;
    const more = conversationOf([RunCommit.parse(parseJson(data))]);
    items = [...items, ...more].slice(-LIMITS.conversationMax);
  }
  if (!isThere) throw new RefusedError({ code: 'NOT_FOUND', message: `There is no run ${runId}.` });
  return items;
}

/** A run as RUNS has it by now. Throws RefusedError when it has none. */
export async function storedRun(nc: NatsConnection, runId: RunId): Promise<Run> {
  let run = emptyRun(runId);
  for await (const { data } of readStored(nc, 'RUNS', subjects.run(runId))) {
    run = evolveCommit(run, RunCommit.parse(parseJson(data)));
  }
  if (run.number === 0) throw new RefusedError({ code: 'NOT_FOUND', message: `There is no run ${runId}.` });
  return run;
}

/** The board of a run as RUNS has it by now. Throws RefusedError when there is no run. */
export async function storedBoard(nc: NatsConnection, runId: RunId): Promise<RunBoard> {
  return runBoardOf(await storedRun(nc, runId));
}
