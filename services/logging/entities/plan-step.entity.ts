import { EntitySchema } from 'typeorm';
import type { PlanStep } from '#libs/constellation';
import { id, instant, int, json, text } from './columns.js';

export const PlanStepEntity = new EntitySchema<PlanStep>({
  name: 'plan_step',
  columns: {
    runId: id('run_id', true),
    number: int('number', { primary: true }),
    index: int('index', { primary: true }),
    kind: id('kind'),
    editId: { ...id('edit_id'), nullable: true },
    try: int('try', { nullable: true }),
    source: id('source'),
    outcome: { ...id('outcome'), nullable: true },
    model: text('model', true),
    calls: int('calls'),
    refused: int('refused'),
    problems: json('problems'),
    tokens: int('tokens'),
    costUsd: { name: 'cost_usd', type: 'double precision' },
    durationMs: { name: 'duration_ms', type: 'double precision' },
    at: instant('at'),
  },
});
