import { z } from 'zod';
import { AttemptCommit } from './attempt-events.js';
import { OutputChunk } from './commands.js';
import { CommandId, DeviceId } from './ids.js';
import { ofAnyTopic, ofLists, said } from './live.js';
import { PlanCommit } from './plan-events.js';
import { RunCommit } from './run-events.js';

// Who follows a list reads by `ListMessage`, and needs none of the schemas of what is recorded of runs.

const ofCommits = [
  /** `sequence`: to be said as `after`, so that nothing is missing or doubled. */
  said('commit', { sequence: z.int().min(1), commit: RunCommit }),
  said('attempt-commit', { sequence: z.int().min(1), commit: AttemptCommit }),
  said('plan-commit', { sequence: z.int().min(1), commit: PlanCommit }),
] as const;

const ofOutput = [
  said('bytes', {
    command: CommandId,
    device: DeviceId,
    stream: OutputChunk.shape.stream,
    /** Where in the stream of this command the text begins, in bytes. */
    offset: z.int().min(0),
    text: z.string(),
  }),
  /** What there is to say of an output that is not whole. Words of a device may be in it. */
  said('note', { text: z.string() }),
] as const;

/** What the console says on `/v1/live` of the topics `run`, `attempts` and `plans`. */
export const CommitsMessage = z.discriminatedUnion('kind', [...ofCommits, ...ofAnyTopic]);

/** What it says of topic `output`. */
export const OutputMessage = z.discriminatedUnion('kind', [...ofOutput, ...ofAnyTopic]);

/** What it says of any. */
export const LiveMessage = z.discriminatedUnion('kind', [...ofCommits, ...ofOutput, ...ofLists, ...ofAnyTopic]);
export type LiveMessage = z.infer<typeof LiveMessage>;
