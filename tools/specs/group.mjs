// What a suite costs, all of it. Systems that tests start go on without who started them, and nobody waits for their processes: the kernel
// counts those, too, in a control group, where it lets us make one.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const NAME = 'orrery-test-';
const MICROSECONDS = 1e6;

/** The control group that we are in. Undefined where there is none of the second version. */
function ownGroup() {
  const mounted = /^(?:\S+ ){3}\/ (\S+) .* - cgroup2 /mu.exec(readFileSync('/proc/self/mountinfo', 'utf8'))?.[1];
  const path = /^0::(\S+)$/mu.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
  return mounted === undefined || path === undefined ? undefined : join(mounted, path);
}

/** Those whose run is over: one with a process in it cannot be removed, and is left to the next run. */
function sweep(folder, isAlive) {
  for (const name of readdirSync(folder)) {
    const [, pid] = name.startsWith(NAME) ? (/^(\d+)-/u.exec(name.slice(NAME.length)) ?? []) : [];
    if (pid !== undefined && !isAlive(Number(pid))) remove(join(folder, name));
  }
}

/** False as long as somebody is in it. */
function remove(folder) {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** A group with this process in it, and with all that it starts from now on. Undefined where the kernel or its owner does not allow that. */
export function groupOf(suite, pid, isAlive) {
  let group;
  try {
    const own = ownGroup();
    if (own === undefined) return undefined;
    sweep(own, isAlive);
    group = join(own, `${NAME}${process.pid}-${suite}`);
    mkdirSync(group);
    writeFileSync(join(group, 'cgroup.procs'), String(pid));
    secondsIn(group);
  } catch {
    if (group !== undefined) remove(group);
    return undefined;
  }
  return { seconds: () => secondsIn(group), end: () => remove(group) };
}

/** Of processor time, of whoever is or was in the group. */
function secondsIn(group) {
  const [, used] = /^usage_usec (\d+)$/mu.exec(readFileSync(join(group, 'cpu.stat'), 'utf8'));
  return Number(used) / MICROSECONDS;
}
