import { CheckFailed, NEEDS, type Check, type Need, type Profile } from './check.js';
import { Lab, type Account, type Target } from './lab.js';
import { Refused } from './peer.js';

export interface Result {
  readonly id: string;
  readonly profile: Profile;
  readonly what: string;
  readonly source: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped. */
  readonly reason?: string;
  readonly ms: number;
}

export interface RunOptions {
  readonly target: Target;
  readonly devices: readonly Account[];
  readonly constellations: readonly Account[];
  /** Whether a system stands behind the server that carries tasks out. */
  readonly executes: boolean;
  /** Told as each check ends. */
  readonly onResult?: (result: Result) => void;
}

/** A check that waits for more than its own limits: something is wrong with the check. */
const CHECK_MS_MAX = 120_000;

/**
 * Runs the checks, as many at a time as there are devices for: a device's checks would take its session from each other. The
 * results are in the order of the checks.
 */
export async function runChecks(checks: readonly Check[], options: RunOptions): Promise<Result[]> {
  const { devices, constellations, onResult } = options;
  const free = { devices: [...devices], constellations: [...constellations] };
  const results = new Map<Check, Result>();
  const runnable: Check[] = [];
  const finish = (check: Check, result: Result): void => {
    results.set(check, result);
    onResult?.(result);
  };
  for (const check of checks) {
    const missing = check.needs?.find((need) => !has(options, need));
    if (missing === undefined) runnable.push(check);
    else finish(check, { ...factsOf(check), outcome: 'skipped', reason: NEEDS[missing], ms: 0 });
  }
  // Who waits longest begins first.
  runnable.sort((one, other) => (other.waitsMs ?? 0) - (one.waitsMs ?? 0));
  const waiting = new Set(runnable);
  const runLeased = async (check: Check, leased: Accounts): Promise<void> => {
    const result = await runCheck(check, new Lab(options.target, leased.devices, leased.constellations));
    free.devices.push(...leased.devices);
    free.constellations.push(...leased.constellations);
    finish(check, result);
    running--;
    wake.resolve();
  };
  let wake = Promise.withResolvers<void>();
  let running = 0;
  while (waiting.size > 0 || running > 0) {
    for (const check of waiting) {
      const leased = lease(free, check);
      if (leased === undefined) continue;
      waiting.delete(check);
      running++;
      void runLeased(check, leased);
    }
    await wake.promise;
    wake = Promise.withResolvers<void>();
  }
  return checks.flatMap((check) => results.get(check) ?? []);
}

const factsOf = ({ id, profile, what, source }: Check): Omit<Result, 'outcome' | 'ms'> => ({
  id,
  profile,
  what,
  source,
});

async function runCheck(check: Check, lab: Lab): Promise<Result> {
  const began = performance.now();
  const facts = factsOf(check);
  const reasons: string[] = [];
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new CheckFailed(`it did not end in ${CHECK_MS_MAX} ms`)), CHECK_MS_MAX);
  for (const part of [() => Promise.race([check.run(lab), late]), () => lab.end()]) {
    try {
      await part();
    } catch (error) {
      reasons.push(reasonOf(error));
    }
  }
  clearTimeout(timer);
  const ms = Math.round(performance.now() - began);
  const [reason] = reasons;
  return reason === undefined ? { ...facts, outcome: 'passed', ms } : { ...facts, outcome: 'failed', reason, ms };
}

function reasonOf(error: unknown): string {
  if (error instanceof CheckFailed || error instanceof Refused) return error.message;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

function has({ target, devices, constellations, executes }: RunOptions, need: Need): boolean {
  switch (need) {
    case 'two-devices':
      return devices.length > 1;
    case 'constellation':
      return constellations.length > 0;
    case 'driver':
      return target.driver !== undefined;
    case 'execution':
      return executes;
    case 'registry':
      return target.revoker !== undefined;
  }
}

interface Accounts {
  readonly devices: Account[];
  readonly constellations: Account[];
}

function lease(free: Accounts, { needs = [] }: Check): Accounts | undefined {
  const devices = needs.includes('two-devices') ? 2 : 1;
  const constellations = needs.includes('constellation') ? 1 : 0;
  if (free.devices.length < devices || free.constellations.length < constellations) return undefined;
  return { devices: free.devices.splice(0, devices), constellations: free.constellations.splice(0, constellations) };
}
