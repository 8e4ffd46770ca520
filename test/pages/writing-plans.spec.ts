import { describe, expect, it } from '@jest/globals';
import type { z } from 'zod';
import { evaluateCondition, exportUfo, validateConstellation } from '#libs/constellation';
import {
  Budget,
  PlannedCall,
  ForEach,
  LINE_TYPES,
  ResourceFloor,
  RetryPolicy,
  RunbookDependency,
  RunbookTask,
  RunOptions,
  RunRequest,
  Selector,
  TaskConstellation,
  TaskFiles,
  TaskStar,
  TaskStarLine,
  Verification,
  type Json,
} from '#proto';
import { blocksOf, codesIn, readPage, rowsOf, sectionOf } from './page.js';

const page = readPage('docs/writing-plans.md');
const requests = blocksOf(page, 'json').map((block) => JSON.parse(block) as { requestId: string });

const fieldsOf = (schema: { readonly shape: z.ZodRawShape }): string[] => Object.keys(schema.shape);

it.each(requests)('the plan $requestId would be taken', (request) => {
  const { constellation } = RunRequest.parse(request);
  expect(constellation).not.toBeNull();
  expect(constellation && validateConstellation(constellation)).toEqual([]);
});

describe('every field is there, and no other one', () => {
  it.each<[string, string[]]>([
    ['Fields of a request', fieldsOf(RunRequest)],
    ['Fields of a constellation', fieldsOf(TaskConstellation)],
    ['Fields of a task', fieldsOf(TaskStar)],
    ['A command', fieldsOf(PlannedCall)],
    ['Where it runs', fieldsOf(Selector)],
    ['On several devices', fieldsOf(ForEach)],
    ['Retry', fieldsOf(RetryPolicy)],
    ['Verify', fieldsOf(Verification)],
    ['Options', fieldsOf(RunOptions)],
    ['Files', fieldsOf(TaskFiles)],
  ])('%s', (heading, fields) => {
    const named = rowsOf(sectionOf(page, heading)).map(([cell = '']) => codesIn(cell)[0] ?? '');
    expect(named.toSorted()).toEqual(fields.toSorted());
  });

  it('Fields of a line, and its types in the words of the schema', () => {
    const rows = rowsOf(sectionOf(page, 'Fields of a line'));
    const types = new Map<string, string>(Object.entries(LINE_TYPES));
    const fields = rows.filter(([cell = '']) => !types.has(codesIn(cell)[0] ?? ''));
    expect(fields.flatMap(([cell = '']) => codesIn(cell)).toSorted()).toEqual(fieldsOf(TaskStarLine).toSorted());
    const told = rows.flatMap(([cell = '', words = '']) => codesIn(cell).map((type) => [type, words] as const));
    expect(new Map(told.filter(([type]) => types.has(type)))).toEqual(types);
  });

  it('those of a budget and of resources, too', () => {
    const [, budget = ''] = rowsOf(sectionOf(page, 'Options')).find(([cell]) => cell === '`budget`') ?? [];
    expect(codesIn(budget).toSorted()).toEqual(fieldsOf(Budget).toSorted());
    const [, resources = ''] = rowsOf(sectionOf(page, 'Where it runs')).find(([cell]) => cell === '`resources`') ?? [];
    expect(codesIn(resources).toSorted()).toEqual(fieldsOf(ResourceFloor).toSorted());
  });
});

const CONDITIONS = rowsOf(sectionOf(page, 'Conditions')).filter((cells) => cells.length === 3);

it.each(CONDITIONS)('the condition %s over %s is %s', (expression, result, comesTo) => {
  const [condition = ''] = codesIn(expression);
  const value = JSON.parse(codesIn(result)[0] ?? '') as Json;
  const { truth } = evaluateCondition(condition, { status: 'COMPLETED', result: value });
  expect(truth).toBe({ true: 'satisfied', false: 'unsatisfied' }[comesTo] ?? comesTo);
});

describe('the words of runbooks and UFO', () => {
  const rows = rowsOf(sectionOf(page, 'The same in other words'));
  const lines = rows.findIndex(([plan]) => plan === '`lines`');
  const words = (cell: string): string[] => codesIn(cell).flatMap((code) => code.split('.')[0] ?? []);

  it('are fields there, and every field of a task and a line is in the table', () => {
    const [ofTasks, ofLines] = [rows.slice(1, lines), rows.slice(lines + 1)];
    expect(new Set(ofTasks.flatMap(([plan = '']) => words(plan)))).toEqual(new Set(fieldsOf(TaskStar)));
    expect(new Set(ofTasks.flatMap(([, runbook = '']) => words(runbook)))).toEqual(new Set(fieldsOf(RunbookTask)));
    expect(new Set(ofLines.flatMap(([plan = '']) => words(plan)))).toEqual(new Set(fieldsOf(TaskStarLine)));
    expect(new Set(ofLines.flatMap(([, runbook = '']) => words(runbook)))).toEqual(
      new Set(fieldsOf(RunbookDependency)),
    );
  });

  it('are where an export for UFO has them', () => {
    const everything = TaskConstellation.parse({
      name: 'all',
      tasks: [
        { id: 'a', name: 'A', target: { tags: ['x'] } },
        {
          ...(requests[1] as unknown as { constellation: TaskConstellation }).constellation.tasks[1],
          id: 'b',
          ...REST,
        },
      ],
      lines: [{ id: 'l', from: 'a', to: 'b', type: 'conditional', condition: 'true', description: 'why' }],
    });
    const exported = exportUfo({ constellation: everything, runId: 'run-1' }) as {
      tasks: Record<string, object>;
      dependencies: Record<string, object>;
    };
    const at = (object: unknown, path: string): unknown =>
      path.split('.').reduce((value: unknown, name) => (value as Record<string, unknown> | undefined)?.[name], object);
    for (const [index, [plan = '', , ufo = '']] of rows.entries()) {
      const [path = ''] = codesIn(ufo);
      if (index === 0 || index === lines) expect(at(exported, path)).toBeDefined();
      else {
        const found = index < lines ? [exported.tasks['a'], exported.tasks['b']] : [exported.dependencies['l']];
        expect({ plan, isThere: found.some((item) => at(item, path) !== undefined) }).toEqual({ plan, isThere: true });
      }
    }
  });
});

/** What no example has in one task. */
const REST = {
  description: 'all of it',
  tips: ['x'],
  timeoutMs: 1_000,
  retry: { attempts: 2 },
  priority: 1,
  idempotent: true,
  inputs: ['a'],
  files: { in: ['a'], out: ['b.csv'] },
  board: [{ name: 'x' }],
  forEach: { wave: 1 },
  review: true,
  replaces: ['a'],
};
