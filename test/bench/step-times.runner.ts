import { z } from 'zod';
import { stepChain } from './path-workloads.js';
import type { PathTarget } from './path.target.js';
import { StepProbe } from './step-probe.adapter.js';
import { partsOfStep, type StepMarks, stepTable } from './step-times.js';
import type { Work } from './target.js';

const CHAINS = 4;
const ROUND_TRIP = 'orrery_aip_command_round_trip_seconds';
const KINDS: readonly (readonly [name: string, work: Work])[] = [
  ['no-op tool', 'nothing'],
  ['EXEC_CLI `true`', 'true'],
];

const AFTER = 'steps-true';

/** After the chains some more of them, with a probe on the bus and on the journal: where the time of a step goes. */
export async function stepTimes(target: PathTarget, workload: string): Promise<string[]> {
  if (workload !== AFTER) return [];
  const kinds: { readonly name: string; readonly parts: ReturnType<typeof partsOfStep> }[] = [];
  const notes: string[] = [];
  for (const [name, work] of KINDS) {
    const before = await roundTrips(target.gatewayMetricsUrl);
    const steps = await probed(target, work);
    const after = await roundTrips(target.gatewayMetricsUrl);
    const meanMs = ((after.sum - before.sum) / (after.count - before.count)) * 1_000;
    notes.push(`${name}: ${steps.length} steps; gateway -> device -> gateway ${meanMs.toFixed(2)} ms on average`);
    kinds.push({ name, parts: partsOfStep(steps) });
  }
  return [stepTable(kinds), '', ...notes, ''];
}

async function probed(target: PathTarget, work: Work): Promise<StepMarks[]> {
  const probe = new StepProbe(target.bus.nc, target.journalFile);
  await target.bus.nc.flush();
  const steps: StepMarks[] = [];
  for (let index = 0; index < CHAINS; index++) {
    const runId = await target.submit(stepChain(work));
    const { succeeded } = await target.untilEnd(runId);
    if (!succeeded) throw new Error(`run ${runId} failed`);
    await target.settled([runId]);
    steps.push(...probe.stepsOf(runId));
  }
  probe.stop();
  return steps;
}

/** Of the gateway's own histogram. */
async function roundTrips(url: string): Promise<{ readonly sum: number; readonly count: number }> {
  const text = await (await fetch(url)).text();
  const valueOf = (name: string): number =>
    z.coerce.number().parse(new RegExp(`^${name}(?:\\{[^}]*\\})? (?<value>\\S+)$`, 'mu').exec(text)?.groups?.['value']);
  return { sum: valueOf(`${ROUND_TRIP}_sum`), count: valueOf(`${ROUND_TRIP}_count`) };
}
