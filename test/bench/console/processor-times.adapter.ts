import { readFileSync } from 'node:fs';
import { cpuSeconds, parents, unlessGone } from '../processes.adapter.js';

/** Of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, in hundredths of a second. */
const TICKS_PER_SECOND = 100;
const [IDLE, WAITS, STOLEN] = [3, 4, 7];

/** Processor seconds, by whose they are. */
export type Seconds = ReadonlyMap<string, number>;

/** What the processor did for whom, since it was asked last: the parts of a system, the browser, this process, and everybody else on the machine. */
export class ProcessorTimes {
  readonly #parts: ReadonlyMap<number, string>;
  #before: Seconds;
  #at = performance.now();

  /** `parts`: the processes of the system, by name; what they started is theirs. */
  constructor(parts: ReadonlyMap<string, number>) {
    this.#parts = new Map([...parts].map(([name, pid]) => [pid, name]));
    this.#before = this.#now();
  }

  /** Per second of the time that went by. */
  since(): Seconds {
    const [now, at] = [this.#now(), performance.now()];
    const seconds = (at - this.#at) / 1_000;
    const shares = [...now].map(([name, spent]): [string, number] => [
      name,
      Math.max(0, spent - (this.#before.get(name) ?? 0)) / seconds,
    ]);
    [this.#before, this.#at] = [now, at];
    return new Map(shares);
  }

  #now(): Seconds {
    const sums = new Map<string, number>();
    const parentOf = parents();
    let known = 0;
    for (const pid of parentOf.keys()) {
      const name = this.#nameOf(pid, parentOf);
      const seconds = name === undefined ? undefined : unlessGone(() => cpuSeconds(pid, { children: false }));
      if (name === undefined || seconds === undefined) continue;
      known += seconds;
      sums.set(name, (sums.get(name) ?? 0) + seconds);
    }
    const ticks = (/^cpu +(?<ticks>.*)$/mu.exec(readFileSync('/proc/stat', 'utf8'))?.groups?.['ticks'] ?? '')
      .split(' ')
      .slice(0, STOLEN + 1)
      .map(Number);
    const stolen = (ticks[STOLEN] ?? 0) / TICKS_PER_SECOND;
    const busy = ticks.reduce((sum, one, at) => sum + (at === IDLE || at === WAITS || at === STOLEN ? 0 : one), 0);
    return sums.set('everybody else', busy / TICKS_PER_SECOND - known).set('stolen by other machines', stolen);
  }

  #nameOf(pid: number, parentOf: ReadonlyMap<number, number>): string | undefined {
    if (pid === process.pid) return 'the bench and 19 clients';
    for (let at: number | undefined = pid; at !== undefined && at > 0; at = parentOf.get(at)) {
      const name = this.#parts.get(at);
      if (name !== undefined) return name;
      if (at === process.pid) return 'browser';
    }
    return undefined;
  }
}

/** The mean of some times. */
export function meanSeconds(some: readonly Seconds[]): Seconds {
  const names = new Set(some.flatMap((one) => [...one.keys()]));
  const mean = (name: string): number => some.reduce((sum, one) => sum + (one.get(name) ?? 0), 0) / some.length;
  return new Map(
    [...names].map((name): [string, number] => [name, mean(name)]).toSorted(([, one], [, other]) => other - one),
  );
}
