import { storeText, type StoresLook } from '../../home/index.js';
import { bad, ok, warn, type Diagnosis } from './finding.js';

/** A difference between what was declared and what the server has. */
interface Difference {
  readonly field: string;
  readonly wanted: unknown;
  readonly found: unknown;
}

/** A stream or durable that has to be there, as it was found. */
export interface DeclaredThing {
  readonly name: string;
  /** Undefined when it is not there. */
  readonly drift: readonly Difference[] | undefined;
}

/** How far a durable has come, by one look. */
export interface DurableLook {
  readonly name: string;
  /** Messages that were not given to anybody yet. */
  readonly pending: number;
  /** Given to somebody who has not settled them. */
  readonly inWork: number;
  /** Replicas that wait for messages. */
  readonly waiting: number;
  readonly delivered: number;
}

const NAMED_MAX = 4;
const REPAIR = 'orrery doctor --repair (or "orrery up" again)';

/** Streams, buckets and durables against their declaration: one line when all is well, one for each that is not. */
export function judgeDeclared(kind: 'streams' | 'durables', things: readonly DeclaredThing[]): Diagnosis[] {
  const missing = things.filter(({ drift }) => drift === undefined).map(({ name }) => name);
  const drifted = things.filter(({ drift }) => drift !== undefined && drift.length > 0);
  const findings = drifted.map(({ name, drift = [] }) => bad(kind, `${name} differs: ${differences(drift)}`, REPAIR));
  if (missing.length > 0) findings.unshift(bad(kind, `${some(missing)} missing`, REPAIR));
  return findings.length > 0 ? findings : [ok(kind, `${things.length} as they were declared`)];
}

/** Durables that nobody declared: a key that may not make one could not have made it. */
export function judgeUndeclared(names: readonly string[]): Diagnosis[] {
  if (names.length === 0) return [];
  return [warn('durables', `nobody declared ${some(names)}`, 'who made them? an administrator can delete them')];
}

/** Whether messages wait and nobody takes them, by two looks some time apart. */
export function judgeMoving(before: readonly DurableLook[], after: readonly DurableLook[]): Diagnosis[] {
  const earlier = new Map(before.map((look) => [look.name, look]));
  const still = after.filter((look) => {
    const then = earlier.get(look.name);
    return then !== undefined && then.pending > 0 && look.pending > 0 && then.delivered === look.delivered;
  });
  if (still.length === 0) return [ok('inputs', 'no durable stands still while messages wait')];
  return still.map((look) => {
    const what = `${look.name} stands still: ${look.pending} wait, ${look.inWork} in work, ${look.waiting} readers`;
    const nobody = look.waiting === 0 && look.inWork === 0;
    return nobody
      ? bad('inputs', what, 'start the service that reads it, or see its log')
      : warn('inputs', what, 'look again in a minute: a service that is full does not take more');
  });
}

const REFUSES = 'make room: what cannot be stored is refused';
const WHEN_FULL = 'make room there: "orrery up" goes on by itself then, containers with docker compose restart nats';

/** How full what stores is: a disk that is full, and a server that may store no more, refuse. */
export function judgeStores({ stores, fault, unseen }: StoresLook): Diagnosis[] {
  const [tight, roomy] = [stores.filter(({ state }) => state !== 'ok'), stores.filter(({ state }) => state === 'ok')];
  const told = [...roomy.map(storeText), ...unseen.map((name) => `${name} is not seen from here`)];
  return [
    ...(fault === undefined ? [] : [bad('storage', `nothing new is taken, because ${fault}`, WHEN_FULL)]),
    ...tight.map((store) => (store.state === 'bad' ? bad : warn)('storage', storeText(store), REFUSES)),
    ...(told.length === 0 ? [] : [ok('storage', told.join('; '))]),
  ];
}

const CLOCK_WARN_MS = 2_000;

/** `aheadMs`: how much later it is here than there. Proofs are good within `limitMs`. */
export function judgeClock(aheadMs: number, limitMs: number): Diagnosis {
  const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1);
  const what = `${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} the bus`;
  const remedy = 'set the clocks by NTP: what is signed counts for minutes only';
  if (Math.abs(aheadMs) > limitMs) return bad('clock', what, remedy);
  return Math.abs(aheadMs) > CLOCK_WARN_MS ? warn('clock', what, remedy) : ok('clock', what);
}

function differences(drift: readonly Difference[]): string {
  return drift
    .map(({ field, wanted, found }) => `${field} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`)
    .join('; ');
}

function some(names: readonly string[]): string {
  const first = names.slice(0, NAMED_MAX).join(', ');
  return names.length > NAMED_MAX ? `${first} and ${names.length - NAMED_MAX} more` : first;
}
