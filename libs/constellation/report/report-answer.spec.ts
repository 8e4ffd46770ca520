import { describe, expect, it } from '@jest/globals';
import type { ModelCall, PlanCommit, RunView } from '#proto';
import { answerSection } from './report-answer.js';
import { plansSection, planStepsOf } from './report-plans.js';

const AT = '2026-01-01T00:00:00.000Z';
const HOSTILE = '```\n# Not a heading\n<script>alert(1)</script> [x](javascript:y)\u001B[2J\u202E';

const view = (more: Partial<RunView>): RunView => ({ tasks: [], lines: [], goal: null, ...more }) as RunView;

describe('the answer in a report', () => {
  const answer = {
    text: HOSTILE,
    by: 'model' as const,
    evidence: [
      { taskId: 'a', attempt: 2, deviceId: 'web-1', command: { tool: 'EXEC_CLI', arguments: { command: 'df -h' } } },
      { taskId: 'b', attempt: 1, deviceId: null },
    ],
    failures: [{ taskId: 'c', status: 'FAILED' as const, message: 'it broke | badly' }],
  };

  it('names the request, what it rests on and what was not done', () => {
    const text = answerSection(view({ goal: 'Check the disks', answer }));
    for (const part of [
      '## Answer',
      'Check the disks',
      'Written by the model',
      'df -h',
      'see its steps',
      'Not done:',
      'it broke',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('stays inside of its fence, whatever it says', () => {
    const text = answerSection(view({ answer }));
    expect(text).not.toMatch(/[\u001B\u202E]/u);
    expect(text).toContain('````text\n```\n# Not a heading');
    expect(text.match(/^#+ .*/gmu)?.filter((line) => !line.includes('Not a heading'))).toEqual(['## Answer']);
  });

  it('stands with what the evaluation found', () => {
    const evaluation = {
      reason: 'The report exists.',
      sub_scores: [{ name: 'all hosts', evaluation: 'unsure' as const }],
      complete: 'yes' as const,
    };
    const text = answerSection(view({ evaluation }));
    for (const part of ['## Evaluation', 'Complete: yes', 'all hosts', 'unsure']) expect(text).toContain(part);
  });

  it('stands with what the evaluation found of each task, and of what cannot be done', () => {
    const evaluation = {
      reason: 'There is no such database.',
      sub_scores: [{ name: 'reported as impossible', evaluation: 'yes' as const }],
      subtasks: [
        { task_id: 'look', evaluation: 'yes' as const, reason: 'a | b\n# no heading' },
        { task_id: 'restore', evaluation: 'unsure' as const },
        { task_id: 'tidy', evaluation: 'no' as const },
      ],
      feasible: 'no' as const,
      complete: 'yes' as const,
    };
    const text = answerSection(view({ evaluation }));
    expect(text).toContain('Complete: yes (what was asked for cannot be done, and the answer says so).');
    expect(text).toContain('1 of 3 subtasks done (33 %), 1 unsure:');
    expect(text).toMatch(/^\| `look` \| yes \| `a \\\| b.*# no heading` \|$/mu);
    expect(text).toContain('| `restore` | unsure | - |');
  });

  it('is left out where there is none', () => expect(answerSection(view({ answer: null, evaluation: null }))).toBe(''));
});

describe('what planning took', () => {
  const call = (more: Partial<ModelCall>): ModelCall => ({
    model: 'large',
    endpoint: 'main',
    promptHash: 'a'.repeat(64),
    parameters: {},
    reply: '{}',
    problems: [],
    error: null,
    tokens: { prompt: 900, completion: 100 },
    costUsd: 0.01,
    startedAt: AT,
    durationMs: 500,
    ...more,
  });
  const commit = {
    runId: 'r',
    number: 3,
    at: AT,
    events: [
      {
        type: 'ROUND_PLANNED',
        data: {
          editId: 'e1',
          try: 2,
          mode: 'creation',
          source: 'model',
          calls: [call({ problems: ['no JSON'] }), call({})],
        },
      },
      { type: 'PLAN_PROPOSED', data: { proposal: { editId: 'e1', try: 2, state: 'CONTINUE' }, source: 'model' } },
      { type: 'ROUND_FAILED', data: { editId: 'e2', try: 1, calls: [], error: { code: 'NO_MODEL', message: 'none' } } },
      {
        type: 'ROUND_PLANNED',
        data: { editId: 'e3', try: 1, source: 'runbook', runbook: { name: 'fleet' }, calls: [] },
      },
    ],
  } as unknown as PlanCommit;

  it('is told step by step, with what every call cost', () => {
    expect(planStepsOf([commit])[0]).toEqual({
      runId: 'r',
      number: 3,
      index: 0,
      kind: 'ROUND_PLANNED',
      editId: 'e1',
      try: 2,
      source: 'model',
      outcome: null,
      model: 'large',
      calls: 2,
      refused: 1,
      problems: ['no JSON'],
      tokens: 2_000,
      costUsd: 0.02,
      durationMs: 1_000,
      at: AT,
    });
  });

  it('is a table with a row for each plan', () => {
    const text = plansSection(planStepsOf([commit]));
    expect(text.split('\n').filter((line) => line.startsWith('| `e'))).toEqual([
      '| `e1 try 2` | `model` | `large` | 2, 1 refused | 2000 | $0.0200 | 1.0 s | `CONTINUE` |',
      '| `e2 try 1` | `rule` | - | 0 | 0 | - | - | `NO_MODEL` |',
      '| `e3 try 1` | `fleet` | - | 0 | 0 | - | - | - |',
    ]);
    expect(text).toContain('- `e1 try 2`: `no JSON`');
  });
});
