import type { RunCommit } from '#proto';
import { metricsOf, type ChangeCounts, type ConstellationSize, type RunMetrics } from '../views/index.js';
import { limited } from './report-limits.js';
import { cell, duration, table } from './report-text.js';

/** Ids of the critical path; a longer one is cut. */
const PATH_CHARS_MAX = 1_000;

/** What the run came to in numbers, out of its facts alone. */
export function figuresSection(commits: readonly RunCommit[]): string {
  const metrics = metricsOf(commits);
  if (metrics === null) return '';
  const { initial, final, maxWidth, peakConcurrency, endToEndMs, edits } = metrics;
  const rows = [
    ['Constellation at first and at last', `${sizeText(initial)}; ${sizeText(final)}`],
    ['Tasks that could run at once', String(maxWidth)],
    ['Tasks that ran at once', String(peakConcurrency)],
    ['Critical path (L)', pathText(metrics)],
    ['All attempts together (W)', duration(metrics.totalWorkMs)],
    ['Waited for people, in neither of them', duration(metrics.waitedMs)],
    ['Parallelism (W / L)', metrics.parallelismRatio === null ? '-' : metrics.parallelismRatio.toFixed(2)],
    ['From request to end', endToEndMs === null ? 'not ended' : duration(endToEndMs)],
    ['Paused', duration(metrics.pausedMs)],
    ['Edit rounds', `${edits.rounds}, of which ${edits.abandoned} were given up`],
    [
      'Time in edit rounds',
      `${duration(metrics.orchestrationMs)}, ${duration(metrics.creationMs)} of it for the creation`,
    ],
    ['Proposals', `${edits.proposals} judged, ${edits.rejected} refused, ${edits.applied} applied to a constellation`],
    ['Changes by edits', changesText(edits.changes)],
  ];
  return ['## Figures', table(['Figure', 'Value'], rows), ...roundsTable(metrics), ...attemptsTable(metrics)].join(
    '\n\n',
  );
}

/** What each round took: who was asked, and what was said, stands under Planning. */
function roundsTable({ rounds }: RunMetrics): string[] {
  if (rounds.length === 0) return [];
  const rows = rounds.map(({ editId, mode, ms, rejected, used, outcome }) => [
    cell(editId),
    mode,
    ms === null ? '-' : duration(ms),
    String(used.llmCalls),
    String(used.tokens),
    rejected === 0 ? outcome : `${outcome}, ${rejected} refused before`,
  ]);
  return ['Rounds with the planner:', limited(['Round', 'Mode', 'Took', 'Model calls', 'Tokens', 'Outcome'], rows)];
}

/** What each attempt worked; where none was measured there is none. */
function attemptsTable({ attempts }: RunMetrics): string[] {
  if (attempts.length === 0) return [];
  const rows = attempts.map(({ taskId, attempt, deviceId, workedMs, waitedMs, used, outcome }) => [
    cell(taskId),
    String(attempt),
    cell(deviceId),
    workedMs === null ? '-' : duration(workedMs),
    waitedMs === null || waitedMs === 0 ? '-' : duration(waitedMs),
    used === null ? '-' : String(used.tokens),
    outcome,
  ]);
  const head = ['Task', 'Attempt', 'Device', 'Worked', 'Waited for people', 'Tokens', 'Outcome'];
  return ['Attempts:', limited(head, rows)];
}

function sizeText({ tasks, lines }: ConstellationSize): string {
  return `${tasks} tasks, ${lines} lines`;
}

function pathText({ criticalPathMs, criticalPath }: RunMetrics): string {
  if (criticalPath.length === 0) return duration(criticalPathMs);
  return `${duration(criticalPathMs)}: ${cell(criticalPath.join(' > '), PATH_CHARS_MAX)}`;
}

function changesText(changes: ChangeCounts): string {
  const { addedTasks, removedTasks, modifiedTasks } = changes;
  const { addedDependencies, removedDependencies, modifiedDependencies } = changes;
  const tasks = `${addedTasks} tasks added, ${removedTasks} removed, ${modifiedTasks} changed`;
  return `${tasks}; ${addedDependencies} lines added, ${removedDependencies} removed, ${modifiedDependencies} changed`;
}
