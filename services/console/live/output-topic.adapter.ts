import type { NatsConnection } from '@nats-io/transport-node';
import { evolveCommit, emptyRun, findTask, isTerminal } from '#libs/constellation';
import { readCommits } from '#libs/event-log';
import { attemptsEndedBy, followedRun, OutputDeniedError, type FollowedCommit } from '#libs/output';
import { lastStored } from '#libs/messaging';
import { parseJson, RunCommit, STREAMS, subjects, type LiveTopic } from '#proto';
import { BusStanding } from './bus-standing.adapter.js';
import { ChannelError, type Channel } from './channel.js';
import { isThere } from './commit-topics.adapter.js';
import { OutputCursors } from './output-cursors.js';

type OutputTopic = Extract<LiveTopic, { readonly kind: 'output' }>;

/** What the commands of one attempt write, to its end: each byte once and in order, first what there is of it by now. */
export async function followOutput(nc: NatsConnection, topic: OutputTopic, channel: Channel): Promise<void> {
  const { run: runId, task: taskId, attempt, command, after = [] } = topic;
  if (!(await isThere(nc, runId))) throw new ChannelError('NOT_FOUND', `There is no run ${runId}.`);
  const { signal } = channel;
  const cursors = new OutputCursors(after);
  let run = emptyRun(runId);
  const filter = subjects.run(runId);
  const standing = new BusStanding(nc, channel, () => lastStored(nc, STREAMS.RUNS.name, filter));
  /** Of commits that are read and not followed yet. */
  const places = new Map<number, number>();
  async function* commits(until: AbortSignal): AsyncGenerator<FollowedCommit> {
    const options = { afterSequence: 0, filter, signal: until, onInterrupted: () => void standing.interrupted() };
    for await (const { data, pending, sequence } of readCommits(nc, 'RUNS', options)) {
      const commit = RunCommit.parse(parseJson(data));
      places.set(commit.number, sequence);
      yield { commit, behind: pending };
    }
  }
  await standing.begin(0);
  try {
    for await (const item of followedRun(nc, { runId, taskId, isWhole: true, signal }, commits)) {
      if (item.kind === 'piece') {
        const { piece } = item;
        if (piece.attempt !== attempt || (command !== undefined && piece.commandId !== command)) continue;
        const { commandId, deviceId, stream, offset, text } = cursors.fresh(piece);
        if (
          text !== '' &&
          !(await channel.say({ kind: 'bytes', command: commandId, device: deviceId, stream, offset, text }))
        )
          return;
      } else if (item.kind === 'note') {
        if (!(await channel.say({ kind: 'note', text: item.text }))) return;
      } else if (item.kind === 'commit') {
        run = evolveCommit(run, item.commit);
        if (attemptsEndedBy(item.commit).some((over) => over.taskId === taskId && over.attempt === attempt)) break;
        if (item.behind === 0 && isTerminal(run)) {
          if (findTask(run, taskId) === undefined) throw noTask(topic);
          break;
        }
        await standing.reached(places.get(run.number) ?? 0);
        places.delete(run.number);
      }
    }
  } catch (error) {
    if (error instanceof OutputDeniedError) throw new ChannelError('UNAVAILABLE', 'This console may not read outputs.');
    throw error;
  }
  if (!signal.aborted) await channel.say({ kind: 'end' });
}

const noTask = ({ run, task }: OutputTopic): ChannelError =>
  new ChannelError('NOT_FOUND', `Run ${run} has no task ${task}.`);
