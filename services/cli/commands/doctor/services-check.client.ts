import { z } from 'zod';
import type { Endpoints } from '../../home/index.js';
import { messageOf } from '../../terminal/index.js';
import { bad, ok, type Diagnosis } from './finding.js';

const ANSWER_MS_MAX = 4_000;

/** What `/readyz` says: each thing that a service needs, and why it is down. */
const Readiness = z.looseObject({
  error: z.record(z.string(), z.looseObject({ message: z.string().optional() })).default({}),
});

/** Every service, asked at once whether it is ready, and if not, what it lacks. */
export async function checkServices({ health }: Pick<Endpoints, 'health'>): Promise<Diagnosis[]> {
  const findings = await Promise.all(Object.entries(health).map(([name, url]) => checkService(name, url)));
  const well = findings.filter(({ state }) => state === 'ok');
  const others = findings.filter(({ state }) => state !== 'ok');
  return well.length === 0 ? others : [ok('services', `ready: ${well.map(({ what }) => what).join(' ')}`), ...others];
}

async function checkService(name: string, url: string): Promise<Diagnosis> {
  const remedy = `see its log, and ${url}/readyz`;
  try {
    const answer = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    if (answer.ok) return ok('services', name);
    const { data } = Readiness.safeParse(await answer.json());
    const why = Object.entries(data?.error ?? {}).map(([what, { message = 'down' }]) => `${what}: ${message}`);
    return bad('services', `${name} is not ready: ${why.join('; ') || `it answers ${answer.status}`}`, remedy);
  } catch (error) {
    return bad('services', `${name} does not answer: ${messageOf(error)}`, remedy);
  }
}
