import { afterAll, describe, expect, it } from '@jest/globals';
import { IS_DEEP } from '#libs/testing';
import { CONFIGURATIONS } from './configurations.js';
import { explore, type Exploration } from './explore.js';

/**
 * The real version of the paper's TLA+ model (appendix A.1): the real decide, evolve, apply, synchronize and acyclicity,
 * under every order of results, edits, verbs, time, connections and crashes that the configurations allow.
 */
const found: { readonly name: string; readonly exploration: Exploration }[] = [];

afterAll(() => {
  const rows = found.map(
    ({ name, exploration: { states, transitions, depth } }) =>
      `${name}: ${states} states, ${transitions} transitions, depth ${depth}`,
  );
  console.log(rows.join('\n'));
});

/** A world that has fewer is not the one that was meant: something was not allowed to happen. */
const STATES_MIN = 400;

describe.each(CONFIGURATIONS)('$name', (configuration) => {
  it('keeps every invariant in every order, and every execution of it ends', () => {
    const { limits, brief } = configuration;
    const exploration = explore({ ...configuration, limits: { ...limits, ...(IS_DEEP ? {} : brief) } });
    found.push({ name: configuration.name, exploration });
    const { violation, states, ends } = exploration;
    expect(violation === null ? '' : [violation.name, violation.message, ...violation.trace].join('\n')).toBe('');
    expect(states).toBeGreaterThan(STATES_MIN);
    expect(ends).toBeGreaterThan(0);
  });
});

/** Types of events with their reasons. A late result is the only fact that is beside the history, and is not explored. */
const HAPPENS = [
  'APPROVAL_DECIDED approved',
  'APPROVAL_DECIDED expired',
  'APPROVAL_DECIDED rejected',
  'APPROVAL_REQUESTED',
  'CONSTELLATION_MODIFIED operator',
  'CONSTELLATION_MODIFIED planner CONTINUE',
  'CONSTELLATION_MODIFIED planner FAIL',
  'CONSTELLATION_MODIFIED planner FINISH',
  'CONSTELLATION_MODIFIED request',
  'EDIT_ABANDONED DEADLINE',
  'EDIT_ABANDONED PLANNER_FAILED',
  'EDIT_ABANDONED REPAIRS_EXHAUSTED',
  'EDIT_ABANDONED RUN_ENDING',
  'EDIT_ABANDONED TOO_MANY_ROUNDS',
  'EDIT_OPENED',
  'EDIT_REJECTED DUPLICATE_ID',
  'EDIT_REJECTED I2_ACYCLIC',
  'EDIT_REJECTED I3_ONLY_PENDING',
  'EDIT_REJECTED ID_USED',
  'EDIT_REJECTED INVALID_INPUT',
  'EDIT_REJECTED OUT_OF_SCOPE',
  'EDIT_REJECTED UNKNOWN_LINE',
  'EDIT_REJECTED UNKNOWN_TASK',
  'RUN_CANCELLED',
  'RUN_COMPLETED partially_failed',
  'RUN_COMPLETED succeeded',
  'RUN_FAILED BUDGET_EXHAUSTED',
  'RUN_FAILED DEADLINE',
  'RUN_FAILED NO_TASK_COMPLETED',
  'RUN_FAILED PLAN_FAILED',
  'RUN_FORKED',
  'RUN_PAUSED',
  'RUN_PAUSED plan_approval',
  'RUN_REOPENED',
  'RUN_REQUESTED',
  'RUN_RESUMED',
  'TASK_CANCELLED budget',
  'TASK_CANCELLED cancelled',
  'TASK_CANCELLED finished',
  'TASK_CANCELLED plan_failed',
  'TASK_CANCELLED retry',
  'TASK_CANCELLED run_deadline',
  'TASK_COMPLETED',
  'TASK_FAILED device_lost',
  'TASK_FAILED failed',
  'TASK_FAILED timed_out',
  'TASK_FAILED unknown',
  'TASK_REOPENED operator',
  'TASK_REOPENED retry_policy',
  'TASK_SKIPPED condition',
  'TASK_SKIPPED failure',
  'TASK_STARTED',
  'TASK_STOP_REQUESTED cancelled',
  'TASK_STOP_REQUESTED finished',
  'TASK_STOP_REQUESTED plan_failed',
  'TASK_STOP_REQUESTED retry',
  'TASK_STOP_REQUESTED run_deadline',
  'TASK_STOP_REQUESTED task_deadline',
  'TASK_STOP_REQUESTED timeout',
  'WORDS_SAID',
];

it('everything that can happen to a run happens somewhere', () => {
  const kinds = new Set(found.flatMap(({ exploration }) => [...exploration.kinds]));
  expect([...kinds].toSorted()).toEqual(HAPPENS);
});
