import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CATALOGUE } from './catalogue.js';
import { sumsOf } from './report.js';
import { runChecks, type Result } from './run-checks.js';
import { startStand, type Gateway, type Stand } from './stand/stand.js';

/** Longer than this a check waits for its limit only when it is asked for: `npm run conformance -- --stand`. */
const WAITS_MS_MAX = 10_000;
const CHECKS = CATALOGUE.filter(({ waitsMs = 0 }) => waitsMs <= WAITS_MS_MAX);
/** Liveness: on a busy machine an answer may take its time. */
const ANSWER_MS = 40_000;
/** All checks are run before the first is told of, on a busy machine many of them once more and alone: who takes longer hangs. */
const CHECKS_MS_MAX = 600_000;
/** A gateway that could not take an upgrade up in time hangs up or says 503, which is right and says nothing about the check. */
const TURNED_AWAY = /^no connection: |answered with HTTP 503$/;

describe('our gateway', () => {
  let stand: Stand;
  let gateway: Gateway;
  const results = new Map<string, Result>();

  beforeAll(async () => {
    stand = await startStand({ executes: true, patienceMs: ANSWER_MS });
    gateway = await stand.gateway({ answerMs: ANSWER_MS, taskMs: 3 * ANSWER_MS });
    const all = await runChecks(CHECKS, gateway.options);
    for (const result of all) results.set(result.id, result);
    const turnedAway = all.filter(({ reason = '' }) => TURNED_AWAY.test(reason)).map(({ id }) => id);
    for (const check of CHECKS.filter(({ id }) => turnedAway.includes(id)))
      for (const result of await runChecks([check], gateway.options)) results.set(result.id, result);
    process.stdout.write(`conformance: ${sumsOf([...results.values()])}, asked again alone: ${turnedAway.length}\n`);
  }, CHECKS_MS_MAX);

  afterAll(async () => {
    await gateway.stop();
    await stand.stop();
  });

  it.each(CHECKS)('$id: $what', ({ id }) => {
    const { outcome, reason } = results.get(id) ?? { outcome: 'not run' };
    expect(reason ?? '').toBe('');
    expect(outcome).toBe('passed');
  });

  it('lives on', () => expect(gateway.hasEnded()).toBe(false));
});
