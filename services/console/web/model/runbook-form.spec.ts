import { describe, expect, it } from '@jest/globals';
import { matchGoal, parseRunbook } from '#libs/planner';
import { RunbookParameter, RunLabels, TaskConstellation } from '#proto';
import { skyOfPlan } from './plan-sky.js';
import { goalOfRunbook, issuesByParameter, labelsTyped, saidIn, typedAtFirst } from './runbook-form.js';

const PARAMETERS = [
  { name: 'service', description: 'which', required: true },
  { name: 'days', description: 'how long', type: 'integer', minimum: 1, default: 7 },
  { name: 'greeting', description: 'what is said', default: 'hello' },
  { name: 'dry', description: 'only look', type: 'boolean', default: false },
].map((one) => RunbookParameter.parse(one));

const used = Object.fromEntries(PARAMETERS.map(({ name }) => [`P_${name.toUpperCase()}`, `{{ p.${name} }}`]));
const command = { tool: 'EXEC_CLI', arguments: { command: 'true', env: used } };
const PARSED = parseRunbook(
  {
    name: 'restart-it',
    title: 'Restart',
    description: 'Restarts it.',
    parameters: PARAMETERS,
    constellation: { tasks: [{ task_id: 'restart', name: 'Restart', target: { os: 'linux' }, command }] },
  },
  'a'.repeat(64),
  'operator',
);

describe('the form of a runbook', () => {
  it('begins with what counts when nothing is said', () => {
    expect(typedAtFirst(PARAMETERS)).toEqual({ service: '', days: '7', greeting: 'hello', dry: 'false' });
  });

  it('says what stands in it; an empty field says nothing, but that a text is empty', () => {
    expect(saidIn(PARAMETERS, { service: '', days: '', greeting: '', dry: 'true' })).toEqual({
      greeting: '',
      dry: 'true',
    });
  });

  it.each([['nginx'], ['two words'], ['say "hi"'], ["it's"], ['back\\slash'], ['a\nb'], ['x=1'], ['key="v" other=']])(
    'is a goal that means this runbook and these parameters: %j',
    (service) => {
      const said = saidIn(PARAMETERS, { ...typedAtFirst(PARAMETERS), service });
      const found = PARSED.ok ? matchGoal(goalOfRunbook('restart-it', said), [PARSED.runbook]) : PARSED;
      expect(found).toMatchObject({
        runbook: { info: { name: 'restart-it' } },
        parameters: { service, days: 7, greeting: 'hello', dry: false },
      });
    },
  );

  it('has at each field what is wrong with it', () => {
    const wrong = { path: 'parameters.days', message: 'must be a whole number' };
    const other = { path: 'constellation', message: 'no device fits' };
    const { at, others } = issuesByParameter(PARAMETERS, [wrong, other]);
    expect(at.get('days')).toEqual([wrong]);
    expect(others).toEqual([other]);
  });
});

describe('labels that are typed', () => {
  it('are words with a value, in whatever way they are parted', () => {
    expect(labelsTyped(' team=db,  ticket=OPS-1 ')).toEqual({ team: 'db', ticket: 'OPS-1' });
    expect(labelsTyped('')).toEqual({});
  });

  it('are left to who checks them where they are none', () => {
    expect(RunLabels.safeParse(labelsTyped('alone')).success).toBe(false);
  });
});

it('draws a plan that nobody has begun: all of it waits', () => {
  const target = { device: 'db-1' };
  const { stars, lines, topology } = skyOfPlan(
    TaskConstellation.parse({
      name: 'plan',
      tasks: [
        { id: 'a', name: 'first', target },
        { id: 'b', name: 'then', target: { os: 'linux' } },
      ],
      lines: [{ id: 'l', from: 'a', to: 'b', type: 'conditional', condition: 'result.ok' }],
    }),
  );
  expect(stars.map(({ id, status, device }) => [id, status, device])).toEqual([
    ['a', 'PENDING', 'db-1'],
    ['b', 'PENDING', null],
  ]);
  expect(lines).toEqual([expect.objectContaining({ from: 'a', to: 'b', condition: 'result.ok', satisfied: null })]);
  expect(topology).toContain('l a b');
});
