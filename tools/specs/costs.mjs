// What each spec file costs: processor time of its worker, and of the processes that it has started and waited for. A run tells the
// dearest, so that nobody has to look for them.
import { appendFileSync, readFileSync } from 'node:fs';

/** Of the times in /proc, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
const DEAREST = 10;
/** What costs less is nothing to look for. */
const SECONDS_MIN = 1;

/** Seconds of processor time of this process, and of those it has waited for. Undefined where the kernel does not say. */
export function secondsSoFar() {
  try {
    const afterName = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ');
    const ticks = afterName.slice(11, 15).reduce((sum, one) => sum + Number(one), 0);
    return ticks / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}

/** Kept for the end of the run, if somebody wants to know. */
export function keepCost(spec, seconds, file = process.env.ORRERY_SPEC_COSTS) {
  if (file !== undefined && Number.isFinite(seconds)) appendFileSync(file, `${seconds.toFixed(2)} ${spec}\n`);
}

/** What was kept, `{ seconds, spec }` of each file. */
function costsIn(file) {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines
      .filter((line) => line !== '')
      .map((line) => ({ seconds: Number(line.split(' ', 1)), spec: line.slice(line.indexOf(' ') + 1) }));
  } catch {
    return [];
  }
}

/** Of all files: at least so much it was, also where a worker was ended before anybody could wait for it. */
export const secondsOfAll = (file) => costsIn(file).reduce((sum, { seconds }) => sum + seconds, 0);

/** The dearest files below `root` in one line, `12 s test/a.spec.ts`; undefined when there are none. */
export function dearestOf(file, root) {
  const dear = costsIn(file)
    .filter(({ seconds, spec }) => seconds >= SECONDS_MIN && spec.startsWith(`${root}/`))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, DEAREST);
  if (dear.length === 0) return undefined;
  return dear.map(({ seconds, spec }) => `${Math.round(seconds)} s ${spec.slice(root.length + 1)}`).join(', ');
}
