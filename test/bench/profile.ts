import { z } from 'zod';

/** What we read of a V8 CPU profile. Times are microseconds of the monotonic clock. */
export const CpuProfile = z.object({
  nodes: z.array(
    z.object({
      id: z.int(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.int() }),
    }),
  ),
  startTime: z.number(),
  samples: z.array(z.int()),
  timeDeltas: z.array(z.number()),
});
export type CpuProfile = z.infer<typeof CpuProfile>;

export interface SelfTime {
  readonly name: string;
  readonly ms: number;
  /** Of the time in the window that was not idle. */
  readonly share: number;
}

export interface ProfileSummary {
  readonly busyMs: number;
  readonly idleMs: number;
  readonly functions: readonly SelfTime[];
  readonly packages: readonly SelfTime[];
}

type Node = CpuProfile['nodes'][number];

/** Self time by function and by package inside the windows, longest first. */
export function summarise(
  { nodes, startTime, samples, timeDeltas }: CpuProfile,
  windows: readonly (readonly [from: number, to: number])[],
): ProfileSummary {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const functions = new Map<string, number>();
  const packages = new Map<string, number>();
  let [at, idle, busy] = [startTime, 0, 0];
  for (const [index, id] of samples.entries()) {
    const delta = timeDeltas[index] ?? 0;
    at += delta;
    const node = byId.get(id);
    if (node === undefined || !windows.some(([from, to]) => from <= at && at <= to)) continue;
    if (node.callFrame.functionName === '(idle)') {
      idle += delta;
      continue;
    }
    busy += delta;
    add(functions, functionOf(node), delta);
    add(packages, packageOf(node), delta);
  }
  return {
    busyMs: busy / 1_000,
    idleMs: idle / 1_000,
    functions: sorted(functions, busy),
    packages: sorted(packages, busy),
  };
}

function add(times: Map<string, number>, name: string, micros: number): void {
  times.set(name, (times.get(name) ?? 0) + micros);
}

function sorted(times: ReadonlyMap<string, number>, busy: number): SelfTime[] {
  return [...times]
    .map(([name, micros]) => ({ name, ms: micros / 1_000, share: micros / busy }))
    .toSorted((a, b) => b.ms - a.ms);
}

function functionOf({ callFrame: { functionName, url, lineNumber } }: Node): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  return url === '' ? name : `${name} ${shortOf(url)}:${lineNumber + 1}`;
}

function packageOf({ callFrame: { functionName, url } }: Node): string {
  const short = shortOf(url);
  if (short === '') return functionName.startsWith('(') ? functionName : '(native)';
  if (short.startsWith('node:')) return 'node';
  const [first = '', second = '', third = ''] = short.split('/');
  if (first.startsWith('@')) return `${first}/${second}`;
  return ['libs', 'services', 'proto'].includes(first)
    ? [first, first === 'proto' ? '' : second].filter(Boolean).join('/')
    : first || third;
}

/** Without the checkout or `node_modules` in front. */
function shortOf(url: string): string {
  return url.replace(/^.*\/(?:node_modules|dist)\//u, '').replace(/^file:\/\//u, '');
}
