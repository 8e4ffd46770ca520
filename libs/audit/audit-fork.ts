import { isDeepStrictEqual } from 'node:util';
import { evolveCommit, forkedFrom, hasPlan, type Run } from '#libs/constellation';
import { verifyChain } from '#libs/event-log';
import { parseWith, RunCommit, type RunEventData } from '#proto';
import type { ExportRecord } from './export-file.js';
import { chained } from './findings.js';

type Forked = RunEventData<'RUN_FORKED'>;

/** What a fork took over. Who forked it, when, and until when it may run are facts of its own. */
const CARRIED = [
  'namespace',
  'contentHash',
  'goal',
  'options',
  'metadata',
  'name',
  'revision',
  'usedIds',
  'triggers',
  'judgeCommands',
] as const satisfies readonly (keyof Forked)[];

/** The same, of what is not said where there is nothing, and was not known to the code of earlier days. */
const CARRIED_WHERE_SAID = [
  'scope',
  'planSource',
  'waitsFor',
  'blackboard',
  'authors',
  'labels',
] as const satisfies readonly (keyof Forked)[];

/** The fact with which a forked run begins; undefined for every other run. */
export function forkOf(records: readonly ExportRecord[]): Forked | undefined {
  const first = records.find(({ stream }) => stream === 'RUNS');
  const parsed = first === undefined ? undefined : RunCommit.safeParse(first.commit).data;
  const [event] = parsed?.events ?? [];
  return event?.type === 'RUN_FORKED' ? event.data : undefined;
}

/** Whether a fork begins where its parent stood: the commit it names has that hash, and what it carries is the fold up to there. */
export function auditFork(forked: Forked, parent: readonly ExportRecord[]): string[] {
  const { runId, number, hash, sequence } = forked.parent;
  const records = parent.filter(({ stream }) => stream === 'RUNS');
  const chain = chained(records, () => undefined).map(({ commit }) => commit);
  const history = chain.filter((commit) => commit.number <= number);
  const named = history.find((commit) => commit.number === number);
  if (named === undefined) return [`it was forked from commit ${number} of run ${runId}, which has no such commit`];
  if (named.hash !== hash)
    return [`commit ${number} of its parent, run ${runId}, has another hash than it had when it was forked`];
  const [broken] = verifyChain(history);
  if (broken !== undefined)
    return [`the history of its parent, run ${runId}, was changed: commit ${broken.number}: ${broken.message}`];
  const run = fold(records, number);
  if (run === undefined) return [`the history of its parent, run ${runId}, cannot be read up to commit ${number}`];
  if (run.sequence !== sequence)
    return [
      `it was forked from event ${sequence}, and commit ${number} of run ${runId} ends with event ${run.sequence}`,
    ];
  return differences(forked, run);
}

/** Undefined when it cannot be folded up to there: what is wrong with it is a finding of the parent. */
function fold(records: readonly ExportRecord[], number: number): Run | undefined {
  let run: Run | undefined;
  try {
    for (const { commit } of records) {
      const parsed = parseWith(RunCommit, commit);
      if (!parsed.ok) return undefined;
      if (parsed.value.number > number) break;
      run = evolveCommit(run, parsed.value);
    }
  } catch {
    return undefined;
  }
  return run !== undefined && hasPlan(run) ? run : undefined;
}

function differences(forked: Forked, run: Run): string[] {
  const { requestedBy, requestId, forkedAt, options } = forked;
  const { approvals } = options;
  const origin = forkedFrom({ run, by: requestedBy, requestId, now: Date.parse(forkedAt), approvals });
  // As it would be stored: JSON knows no absent values.
  const expected = JSON.parse(JSON.stringify(origin)) as Forked;
  const say = (what: string): string => `${what} of run ${run.runId} after event ${run.sequence}`;
  const fields = [...CARRIED, ...CARRIED_WHERE_SAID.filter((field) => forked[field] !== undefined)];
  return [
    ...fields
      .filter((field) => !isDeepStrictEqual(forked[field], expected[field]))
      .map((field) => say(`its ${field} is not that`)),
    ...others(forked.tasks, expected.tasks, ({ star }) => star.id).map((id) => say(`its task ${id} is not the one`)),
    ...others(forked.lines, expected.lines, ({ line }) => line.id).map((id) => say(`its line ${id} is not the one`)),
  ];
}

/** Ids of what differs, is missing, is too much or stands elsewhere; of each pair the fields that both sides know. */
function others<T extends object>(found: readonly T[], expected: readonly T[], idOf: (item: T) => string): string[] {
  const length = Math.max(found.length, expected.length);
  return Array.from({ length }, (_, index) => [found[index], expected[index]] as const).flatMap(([is, should]) => {
    if (is !== undefined && should !== undefined && alike(is, should)) return [];
    const one = is ?? should;
    return one === undefined ? [] : [idOf(one)];
  });
}

/** The code that wrote the fact may have known fewer fields, or more. */
function alike(is: object, should: object): boolean {
  const known = new Map(Object.entries(should));
  return Object.entries(is).every(([key, value]) => !known.has(key) || isDeepStrictEqual(value, known.get(key)));
}

export function unchecked({ parent }: Forked): string {
  return `forked from event ${parent.sequence} of run ${parent.runId}, which is not there: what it took over was not checked`;
}
