import { setTimeout as sleep } from 'node:timers/promises';
import { viewOf } from '#libs/constellation';
import { visibleText } from '#libs/visible';
import { EXIT, type ExitCode, type CliContext } from '../../terminal/index.js';
import { commitsOf, momentsOf, openOneRun } from '../../sources/index.js';
import { PAUSE_MS_MAX } from './winding.js';
import { canWind, wind } from './winding.runner.js';
import { drawingOf, timelineOf } from '../../text/index.js';

export interface ReplayOptions {
  /** Last event shown. */
  readonly at?: number;
  /** Times as fast as it happened; absent: without waiting. */
  readonly speed?: number;
}

/**
 * The constellation as it evolved: on a terminal wound by keys, else printed. No device is touched and no service is asked: it is a fold over
 * facts.
 */
export async function replay(context: CliContext, runOrFile: string, { at, speed }: ReplayOptions): Promise<ExitCode> {
  const [runId, records] = await openOneRun(context, runOrFile);
  if (canWind(context)) {
    const { code, sequence } = await wind(context, [...momentsOf(runId, commitsOf(runId, records))], { at, speed });
    context.terminal.err(`left at event ${sequence}; its state: orrery show ${runOrFile} --at ${sequence}`);
    return code;
  }
  let before: number | undefined;
  for (const { commit, events, run } of momentsOf(runId, commitsOf(runId, records), at)) {
    const instant = Date.parse(commit.at);
    await pause(instant - (before ?? instant), speed, context.signal);
    if (context.signal.aborted) return EXIT.failure;
    before = instant;
    if (context.json) context.terminal.out(visibleText(JSON.stringify(viewOf(run))));
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
