import type { LineView, RunView, TaskConstellation, TaskStatus } from '#proto';
import { LINE_KINDS } from '../plan/index.js';
import { UNDECIDED } from '../state/index.js';
import { cut, fence, oneLine } from './report-text.js';

/** A DAG to draw: a constellation as requested has neither states nor judged lines. */
export interface Drawing {
  readonly tasks: readonly { id: string; name: string; status?: TaskStatus; device?: string | null }[];
  readonly lines: readonly (Pick<LineView, 'id' | 'from' | 'to' | 'type' | 'condition'> & {
    satisfied?: boolean | null;
    reason?: string | null;
  })[];
}

/** More than this no renderer draws in a way that anybody could read. */
export const MERMAID_TASKS_MAX = 200;
const MERMAID_LINES_MAX = 500;
const LABEL_CHARS_MAX = 60;
const REASON_CHARS_MAX = 240;

export function dagDrawingOf(constellation: TaskConstellation): Drawing {
  return {
    tasks: constellation.tasks,
    lines: constellation.lines.map((line) => ({ ...line, condition: line.condition ?? null })),
  };
}

/** The DAG for a renderer of Mermaid. Nothing in it is spelt by a user: nodes are numbered, texts are encoded. */
export function mermaid({ tasks, lines }: Drawing): string {
  if (tasks.length > MERMAID_TASKS_MAX || lines.length > MERMAID_LINES_MAX) {
    return `${tasks.length} tasks and ${lines.length} lines are too many to draw; the list below has all of them.`;
  }
  const node = new Map(tasks.map(({ id }, index) => [id, `t${index}`]));
  const nodes = tasks.map(({ id, name, status }, index) => {
    const title = name === id ? id : `${id}: ${name}`;
    return `  t${index}["${label(title)}${status === undefined ? '' : `<br/>${status}`}"]${status === undefined ? '' : `:::${status}`}`;
  });
  const edges = lines.map((line) => `  ${node.get(line.from)} ${arrow(line)} ${node.get(line.to)}`);
  const styled = tasks.some(({ status }) => status !== undefined);
  return fence(['graph TD', ...nodes, ...edges, ...(styled ? STYLES : [])].join('\n'), 'mermaid');
}

/** The same for eyes alone: every task in an order in which it could run, under it the lines that lead to it. */
export function textDag(run: Pick<RunView, 'tasks' | 'lines'>): string {
  const into = Map.groupBy(run.lines, ({ to }) => to);
  return topological(run)
    .flatMap(({ id, name, status, device, attempts }) => [
      `[${status.padEnd(9)}] ${id}${name === id ? '' : `  "${oneLine(name, LABEL_CHARS_MAX)}"`}${device === null ? '' : `  on ${device}`}${attempts > 1 ? `  (${attempts} attempts)` : ''}`,
      ...(into.get(id) ?? []).map(
        (line) => `              <- ${line.from}  ${oneLine(judgement(line), REASON_CHARS_MAX)}`,
      ),
    ])
    .join('\n');
}

/** `success-only: satisfied`, `conditional (result.exit_code == 0): not satisfied, because ...`. */
export function judgement({ type, condition, satisfied, reason }: Drawing['lines'][number]): string {
  const what = condition === null ? type : `${type} (${condition})`;
  if (satisfied === null || satisfied === undefined) return `${what}: not judged`;
  if (isUndecided(reason)) return `${what}: ${reason ?? UNDECIDED}`;
  return `${what}: ${satisfied ? 'satisfied' : `not satisfied${reason ? `, because ${reason}` : ''}`}`;
}

const STYLES = [
  '  classDef PENDING fill:#f4f4f5,stroke:#71717a,color:#18181b',
  '  classDef RUNNING fill:#dbeafe,stroke:#1d4ed8,color:#18181b',
  '  classDef COMPLETED fill:#dcfce7,stroke:#15803d,color:#18181b',
  '  classDef FAILED fill:#fee2e2,stroke:#b91c1c,color:#18181b',
  '  classDef SKIPPED fill:#fef9c3,stroke:#a16207,color:#18181b,stroke-dasharray:4',
  '  classDef CANCELLED fill:#e4e4e7,stroke:#52525b,color:#18181b,stroke-dasharray:4',
];

export function isUndecided(reason: string | null | undefined): boolean {
  return reason?.startsWith(UNDECIDED) === true;
}

function arrow({ type, condition, satisfied, reason }: Drawing['lines'][number]): string {
  const shaft = satisfied === false ? '-.->' : '-->';
  const words = [
    LINE_KINDS[type].asks ? type : '',
    condition ?? '',
    satisfied === false ? (isUndecided(reason) ? 'undecided' : 'not satisfied') : '',
  ];
  const text = words.filter((word) => word !== '').join(' - ');
  return text === '' ? shaft : `${shaft}|"${label(text)}"|`;
}

/** Everything but letters, digits and harmless signs as Mermaid's own character codes. */
function label(text: string): string {
  return cut(oneLine(text), LABEL_CHARS_MAX).replaceAll(
    /[^\p{L}\p{N} _.,:/-]/gu,
    (sign) => `#${sign.codePointAt(0) ?? 0};`,
  );
}

/** Predecessors first, otherwise in the order given; what lies on a cycle (a run that `verify` would refuse) comes last. */
function topological({ tasks, lines }: Pick<RunView, 'tasks' | 'lines'>): RunView['tasks'] {
  const waitingFor = new Map(tasks.map(({ id }) => [id, 0]));
  for (const { to } of lines) waitingFor.set(to, (waitingFor.get(to) ?? 0) + 1);
  const from = Map.groupBy(lines, (line) => line.from);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const order = tasks.filter(({ id }) => waitingFor.get(id) === 0);
  const placed = new Set(order);
  for (const { id } of order) {
    for (const { to } of from.get(id) ?? []) {
      const left = (waitingFor.get(to) ?? 0) - 1;
      waitingFor.set(to, left);
      const task = byId.get(to);
      if (left > 0 || task === undefined || placed.has(task)) continue;
      placed.add(task);
      order.push(task);
    }
  }
  return [...order, ...tasks.filter((task) => !placed.has(task))];
}
