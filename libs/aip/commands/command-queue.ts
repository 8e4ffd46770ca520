import type { RunId } from '#proto';

/** What the choice needs to know of an open command. */
export interface QueuedCommand {
  readonly runId: RunId;
  readonly priority: number;
  readonly state: 'queued' | 'sent' | 'running';
}

/**
 * The queued command to send next: the highest priority; among equals the run with the least at the device, then the run
 * whose last turn (`turns`: higher is later) is longest ago, then the oldest. A run of a thousand tasks cannot starve one of three.
 */
export function chooseNext<C extends QueuedCommand>(
  open: Iterable<C>,
  turns: ReadonlyMap<RunId, number>,
): C | undefined {
  const commands = [...open];
  const atDevice = new Map<RunId, number>();
  for (const { state, runId } of commands) {
    if (state !== 'queued') atDevice.set(runId, (atDevice.get(runId) ?? 0) + 1);
  }
  const rank = ({ priority, runId }: C): [number, number, number] => [
    -priority,
    atDevice.get(runId) ?? 0,
    turns.get(runId) ?? 0,
  ];
  let best: C | undefined;
  for (const command of commands) {
    if (command.state === 'queued' && (best === undefined || isBefore(rank(command), rank(best)))) best = command;
  }
  return best;
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  for (const [index, value] of one.entries()) {
    const against = other[index] ?? 0;
    if (value !== against) return value < against;
  }
  return false;
}
