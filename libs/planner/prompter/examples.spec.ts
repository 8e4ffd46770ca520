import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  checkCondition,
  constellationOfTools,
  editOfCall,
  evaluateCondition,
  validateConstellation,
} from '#libs/constellation';
import type { PromptExamples, PromptTemplates } from '#libs/prompter';
import { loadPrompts } from '#libs/prompts';
import { CreationReply, EditingReply, Evaluation, ExampleReply, type ToolConstellation } from '#proto';
import { shell } from './given.testing.js';

let prompts: PromptTemplates;
beforeAll(async () => {
  prompts = await loadPrompts();
});

const examplesOf = (name: string): PromptExamples['examples'] =>
  prompts.examples.find(({ id }) => id === `examples/planner/${name}`)?.examples ?? [];
const good = (name: string): PromptExamples['examples'] => examplesOf(name).filter(({ wrong }) => wrong === undefined);

function issuesOf(plan: ToolConstellation): unknown[] {
  const made = constellationOfTools(plan, 'example');
  return made.ok ? validateConstellation(made.constellation) : made.issues;
}

describe('the examples of the planner', () => {
  it.each([
    ['creation', CreationReply],
    ['editing', EditingReply],
    ['evaluation', Evaluation],
    ['experience', ExampleReply],
    ['demonstration', ExampleReply],
  ] as const)('for %s fit their schema', (name, schema) => {
    expect(good(name).length).toBeGreaterThan(0);
    for (const { response } of examplesOf(name)) expect(schema.safeParse(response).error?.issues ?? []).toEqual([]);
  });

  it('for creation show every state, and a plan that is wrong', () => {
    const states = good('creation').map(({ response }) => CreationReply.parse(response).state);
    expect(new Set(states)).toEqual(new Set(['CONTINUE', 'FINISH', 'FAIL']));
    expect(examplesOf('creation').some(({ wrong }) => wrong !== undefined)).toBe(true);
  });

  it('for creation are plans that may run', () => {
    const plans = good('creation').flatMap(({ response }) => CreationReply.parse(response).constellation ?? []);
    expect(plans.length).toBeGreaterThan(2);
    for (const plan of plans) expect(issuesOf(plan)).toEqual([]);
  });

  it('for learning are plans that may run', () => {
    for (const { response } of [...good('experience'), ...good('demonstration')]) {
      expect(issuesOf(ExampleReply.parse(response).constellation)).toEqual([]);
    }
  });

  it('for editing show every state, most of them without a change, and calls that become edits', () => {
    const replies = good('editing').map(({ response }) => EditingReply.parse(response));
    expect(new Set(replies.map(({ state }) => state))).toEqual(new Set(['CONTINUE', 'FINISH', 'FAIL']));
    expect(replies.filter(({ actions }) => actions.length === 0).length).toBeGreaterThan(replies.length / 2);
    for (const call of replies.flatMap(({ actions }) => actions)) expect(editOfCall(call)).toMatchObject({ ok: true });
  });

  it('hold no secret, only names of secrets', () => {
    const values = JSON.stringify(examplesOf('creation').map(({ response }) => response)).matchAll(
      /"PGPASSWORD":([^}]*\})/gu,
    );
    expect([...values].map(([, value]) => value)).toEqual(['{"secret":"db-backup"}']);
  });
});

describe('the conditions that the prompts show', () => {
  const shown = (): string[] => {
    const shared = prompts.templates.find(({ id }) => id === 'planner/shared')?.parts['vocabulary'] ?? '';
    const paragraph = shared.split('- `condition` is CEL')[1]?.split('A condition that fails')[0] ?? '';
    return [...paragraph.matchAll(/`((?:result|status|int|size)[.( ][^`]*)`/gu)].map(([, text = '']) => text);
  };

  it('are valid', () => {
    expect(shown()).toHaveLength(7);
    for (const condition of shown()) expect(checkCondition(condition)).toBeUndefined();
  });

  it('mean what the prompt says', () => {
    const scope = { status: 'COMPLETED', result: shell(' 81\n') } as const;
    const satisfied = shown().filter((condition) => evaluateCondition(condition, scope).truth === 'satisfied');
    expect(satisfied).toEqual(['result.exit_code == 0', 'int(result.stdout.trim()) > 80', 'size(result.stdout) > 0']);
    const failed = { status: 'FAILED', result: shell('degraded', 1) } as const;
    const others = shown().filter((condition) => evaluateCondition(condition, failed).truth === 'satisfied');
    expect(others).toEqual(['result.stdout.contains("degraded")', 'status == "FAILED"', 'size(result.stdout) > 0']);
    const text = { status: 'COMPLETED', result: 'all ready' } as const;
    expect(evaluateCondition('result.contains("ready")', text).truth === 'satisfied').toBe(true);
  });
});
