import { setTimeout as sleep } from 'node:timers/promises';
import { viewOf } from '#libs/constellation';
import { EXIT, type ExitCode, type CliContext } from '../../terminal/index.js';
import { commitsOf, momentsOf, openOneRun } from '../../sources/index.js';
import { drawingOf, timelineOf } from '../../text/index.js';

/** However slow the run was, nobody watches a standing picture for longer than this. */
const PAUSE_MS_MAX = 10_000;

export interface ReplayOptions {
  /** Last event shown. */
  readonly at?: number;
  /** Times as fast as it happened; absent: without waiting. */
  readonly speed?: number;
}

/** Prints the constellation as it evolved. No device is touched and no service is asked: it is a fold over facts. */
export async function replay(context: CliContext, runOrFile: string, { at, speed }: ReplayOptions): Promise<ExitCode> {
  const [runId, records] = await openOneRun(context, runOrFile);
  let before: number | undefined;
  for (const { commit, events, run } of momentsOf(runId, commitsOf(runId, records), at)) {
    const instant = Date.parse(commit.at);
    await pause(instant - (before ?? instant), speed, context.signal);
    if (context.signal.aborted) return EXIT.failure;
    before = instant;
    if (context.json) context.terminal.out(JSON.stringify(viewOf(run)));
    else print(context, [`#${commit.number}`, ...timelineOf(commit, events)], drawingOf(viewOf(run), context.terminal));
  }
  return EXIT.ok;
}

function print({ terminal }: CliContext, lines: readonly string[], drawing: readonly string[]): void {
  terminal.out([...lines, ...drawing.map((line) => `    ${line}`), ''].join('\n'));
}

async function pause(elapsedMs: number, speed: number | undefined, signal: AbortSignal): Promise<void> {
  if (speed === undefined || elapsedMs <= 0) return;
  await sleep(Math.min(elapsedMs / speed, PAUSE_MS_MAX), undefined, { signal }).catch(() => {});
}
