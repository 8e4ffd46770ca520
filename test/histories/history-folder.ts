// Where the histories of a version lie, and how they are read:
//
//   <version>/runs/<name>.jsonl   what was stored of the run, its attempts and its plans
//   <version>/runs/<name>.fold    what that means, at every prefix and at the end
//   <version>/fleet.jsonl, fleet.fold   the same of the fleet
//   <version>/requests.json       what was sent for each run, as text
//   <version>/home.tar.zst        the home of the system that stored it all, to start another one on
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { auditRun, type AuditReport } from '#libs/audit';
import { FleetState } from '#libs/fleet';
import { FLEET_LOG, parseCommits, RUN_LOG } from '#libs/event-log';
import { runIdOfSubject } from '#proto';
import type { FleetCommit, RunCommit, RunId } from '#proto';
import { fleetText, foldText } from './fold-text.js';
import { parseHistory, recordsOf, type HistoryLine } from './history-file.js';

export const HISTORIES = import.meta.dirname;

/** Every version that was recorded, by name. */
export function recordedVersions(): string[] {
  return readdirSync(HISTORIES)
    .filter((name) => statSync(join(HISTORIES, name)).isDirectory())
    .toSorted();
}

export interface RunHistory {
  readonly name: string;
  readonly runId: RunId;
  readonly lines: readonly HistoryLine[];
  /** What was said of it when it was recorded. */
  readonly golden: string;
}

export function runHistories(version: string): RunHistory[] {
  const folder = join(HISTORIES, version, 'runs');
  const names = readdirSync(folder).flatMap((file) => (file.endsWith('.jsonl') ? [file.slice(0, -6)] : []));
  return names.toSorted().map((name) => {
    const lines = parseHistory(readFileSync(join(folder, `${name}.jsonl`), 'utf8'));
    const golden = readFileSync(join(folder, `${name}.fold`), 'utf8');
    return { name, runId: runOf(lines), lines, golden };
  });
}

export function fleetHistory(version: string): { lines: HistoryLine[]; golden: string } {
  const read = (file: string): string => readFileSync(join(HISTORIES, version, file), 'utf8');
  return { lines: parseHistory(read('fleet.jsonl')), golden: read('fleet.fold') };
}

/** The id of the run that these lines are about. */
export function runOf(lines: readonly HistoryLine[]): RunId {
  const runId = runIdOfSubject(lines[0]?.subject ?? '');
  if (runId === undefined) throw new Error('a history begins with a commit of its run');
  return runId;
}

const encoder = new TextEncoder();
const stored = (lines: readonly HistoryLine[]) =>
  lines.map(({ sequence, text }) => ({ sequence, data: encoder.encode(text) }));

/** As a service reads them from the log: the chain over what is stored, then the schema. */
export function commitsOfRun(lines: readonly HistoryLine[]): RunCommit[] {
  const own = lines.filter(({ stream }) => stream === 'RUNS');
  const subject = own[0]?.subject ?? '';
  return parseCommits(subject, RUN_LOG.schema, stored(own), { fromStart: true }).map(({ commit }) => commit);
}

export function foldOfRun(lines: readonly HistoryLine[]): string {
  return foldText(commitsOfRun(lines));
}

/** What `orrery verify` says. `others`: where the run it was forked from is found. */
export function auditOf(lines: readonly HistoryLine[], others: readonly (readonly HistoryLine[])[]): AuditReport {
  const [first] = commitsOfRun(lines);
  const event = first?.events[0];
  const parentId = event?.type === 'RUN_FORKED' ? event.data.parent.runId : undefined;
  const parent = parentId === undefined ? undefined : others.find((each) => runOf(each) === parentId);
  return auditRun(runOf(lines), recordsOf(lines), parent && recordsOf(parent));
}

export function foldOfFleet(lines: readonly HistoryLine[]): string {
  const bySubject = Map.groupBy(lines, ({ subject }) => subject);
  const commits = [...bySubject].flatMap(([subject, own]) =>
    parseCommits<FleetCommit>(subject, FLEET_LOG.schema, stored(own), { fromStart: true }),
  );
  const state = new FleetState();
  for (const each of commits.toSorted((a, b) => a.sequence - b.sequence)) state.apply(each);
  return fleetText(
    state,
    commits.map(({ commit }) => commit),
  );
}
