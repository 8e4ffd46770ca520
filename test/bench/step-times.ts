import { spreadOf } from './statistics.js';

/** When what happened in one step of a chain, as the bench saw it on the bus and at the journal, by its own clock. */
export interface StepMarks {
  /** The commit with TASK_STARTED is stored. */
  startStored: number;
  /** The device agent's request for the device is on the bus. */
  requested: number;
  /** The device writes `started` into its journal, before it calls the tool. */
  journalStarted: number;
  /** The device writes `finished` into its journal. */
  journalFinished: number;
  /** The gateway's answer is on the bus. */
  answered: number;
  /** The end of the attempt is on its way to ATTEMPTS. */
  endPublished: number;
  /** The server has acknowledged it. */
  endStored: number;
  /** The commit that follows from it is on its way to RUNS. */
  nextPublished: number;
  nextStored: number;
  /** What the device measured around the call of the tool; a duration. */
  toolMs: number;
}

export interface Part {
  readonly name: string;
  readonly medianMs: number;
  readonly p99Ms: number;
}

const PARTS: readonly (readonly [name: string, ms: (marks: StepMarks) => number])[] = [
  ['start stored -> request on the bus (device-agent)', (m) => m.requested - m.startStored],
  ['request -> `started` written (gateway, socket, device)', (m) => m.journalStarted - m.requested],
  ['`started` flushed (fdatasync), call prepared', (m) => m.journalFinished - m.journalStarted - m.toolMs],
  ['call of the tool (MCP and the tool itself)', (m) => m.toolMs],
  [
    '`finished` flushed (fdatasync) -> answer on the bus (device, socket, gateway)',
    (m) => m.answered - m.journalFinished,
  ],
  ['answer -> end published (device-agent)', (m) => m.endPublished - m.answered],
  ['end published -> stored in ATTEMPTS (fsync)', (m) => m.endStored - m.endPublished],
  ['end stored -> next commit published (orchestrator)', (m) => m.nextPublished - m.endStored],
  ['next commit published -> stored in RUNS (fsync)', (m) => m.nextStored - m.nextPublished],
  ['the whole step', (m) => m.nextStored - m.startStored],
];

/** A step that was not seen from beginning to end (the last of a chain has no next) is left out. */
export function isComplete(marks: Partial<StepMarks>): marks is StepMarks {
  const { startStored, requested, journalStarted, journalFinished, answered, endPublished } = marks;
  const { endStored, nextPublished, nextStored, toolMs } = marks;
  const first = [startStored, requested, journalStarted, journalFinished, answered];
  return [...first, endPublished, endStored, nextPublished, nextStored, toolMs].every((mark) => mark !== undefined);
}

export function partsOfStep(steps: readonly StepMarks[]): Part[] {
  return PARTS.map(([name, ms]) => {
    const { median, p99 } = spreadOf(steps.map(ms));
    return { name, medianMs: median, p99Ms: p99 };
  });
}

/** One column of medians per kind of step. */
export function stepTable(kinds: readonly { readonly name: string; readonly parts: readonly Part[] }[]): string {
  const head = ['part of a step', ...kinds.flatMap(({ name }) => [`${name}, median`, 'p99'])];
  const rows = PARTS.map(([name], index) => [
    name,
    ...kinds.flatMap(({ parts }) => [figure(parts[index]?.medianMs), figure(parts[index]?.p99Ms)]),
  ]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function figure(ms: number | undefined): string {
  return ms === undefined ? '-' : `${ms.toFixed(2)} ms`;
}
