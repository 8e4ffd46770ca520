import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '#libs/platform';
import { OrchestratorConfig } from './orchestrator.config.js';

describe('the configuration of the orchestrator', () => {
  it('lets plans start at once, and bounds no tasks, unless it is told otherwise', () => {
    expect(parseConfig(OrchestratorConfig, {})).toEqual({
      planApproval: 'as-requested',
      approvals: 1,
      judge: 'models',
      metricsLabels: [],
    });
    expect(
      parseConfig(OrchestratorConfig, {
        ORRERY_PLAN_APPROVAL: 'required',
        ORRERY_TASKS_MAX: '5',
        ORRERY_APPROVALS: '2',
        ORRERY_JUDGE: 'all',
        ORRERY_METRICS_LABELS: 'team, env',
      }),
    ).toEqual({
      approvals: 2,
      judge: 'all',
      metricsLabels: ['team', 'env'],
      planApproval: 'required',
      tasksMax: 5,
    });
  });

  it('says what the approval of plans may be', () => {
    expect(() => parseConfig(OrchestratorConfig, { ORRERY_PLAN_APPROVAL: 'maybe' })).toThrow(
      'ORRERY_PLAN_APPROVAL must be one of required, as-requested.',
    );
  });

  it.each(['team=db', 'a,b,c,d,e,f,g,h,i', '{}'])('says what labels for metrics may be, instead of %s', (labels) => {
    expect(() => parseConfig(OrchestratorConfig, { ORRERY_METRICS_LABELS: labels })).toThrow(
      'ORRERY_METRICS_LABELS must be at most 8 keys of labels, separated by commas, such as "team,env".',
    );
  });
});
