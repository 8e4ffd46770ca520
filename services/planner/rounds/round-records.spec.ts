import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { meteredModel, ScriptedChatModel } from '#libs/llm';
import { Metrics } from '#libs/platform';
import { roundRecords } from './round-records.adapter.js';
import { PlannerWorld } from '../testing/planner-world.js';
import { plan, task } from '../testing/replies.js';

it('what the planner does is counted, timed and logged, by mode, source and outcome', async () => {
  const metrics = new Metrics('test');
  const lines: string[] = [];
  const emit = roundRecords(pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }), metrics);
  const world = new PlannerWorld();
  const tokens = { prompt: 100, completion: 10 };
  const prices = { scripted: { promptPerMillion: 1_000, completionPerMillion: 5_000 } };
  const model = meteredModel(new ScriptedChatModel(['garbage', plan([task('a')])], { tokens, prices }), metrics);
  const planner = world.planner({ model });
  await planner.handle(await world.submit());
  for (const record of planner.records) emit(record);
  const text = await metrics.registry.metrics();
  expect(text).toMatch(
    /orrery_planner_rounds_total\{(?=.*mode="creation")(?=.*source="model").*outcome="proposed".*\} 1/u,
  );
  expect(text).toMatch(/orrery_planner_round_seconds_count\{.*mode="creation".*\} 1/u);
  expect(text).toMatch(/orrery_model_calls_total\{agent="ConstellationAgent",outcome="REPLY",service="test"\} 2/u);
  expect(text).toMatch(/orrery_model_tokens_total\{agent="ConstellationAgent",service="test"\} 220/u);
  expect(text).toMatch(/orrery_model_cost_usd_total\{agent="ConstellationAgent",service="test"\} 0\.3/u);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { runId: 'run1', editId: 'e1', try: 1, outcome: 'proposed', used: { llmCalls: 2 }, msg: 'round' },
  ]);
});
