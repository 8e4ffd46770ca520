import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '#libs/platform';
import { PlannerConfig } from './planner.config.js';

describe('the configuration of the planner', () => {
  it('judges nothing, keeps no examples and serves MCP hosts on its port unless it is told otherwise', () => {
    expect(parseConfig(PlannerConfig, {})).toEqual({
      roundsMax: 64,
      promptsDirectory: undefined,
      runbooksDirectory: undefined,
      keepPrompts: true,
      evaluation: false,
      experience: false,
      mcpPort: 8_090,
      mcpHosts: [],
    });
  });

  it('reads what it is told', () => {
    const environment = {
      ORRERY_ROUNDS_MAX: '3',
      ORRERY_RUNBOOKS_DIR: '/srv/runbooks',
      ORRERY_KEEP_PROMPTS: 'off',
      ORRERY_EVALUATION: 'on',
      ORRERY_EXPERIENCE: 'on',
      ORRERY_MCP_PORT: 'off',
      ORRERY_MCP_HOSTS: 'plans.example.org, ,other',
    };
    expect(parseConfig(PlannerConfig, environment)).toMatchObject({
      roundsMax: 3,
      runbooksDirectory: '/srv/runbooks',
      keepPrompts: false,
      evaluation: true,
      experience: true,
      mcpPort: null,
      mcpHosts: ['plans.example.org', 'other'],
    });
    expect(parseConfig(PlannerConfig, { ORRERY_MCP_PORT: '0' }).mcpPort).toBe(0);
  });

  it.each(['-1', '65536', 'none'])('says what a port may be instead of %s', (port) => {
    expect(() => parseConfig(PlannerConfig, { ORRERY_MCP_PORT: port })).toThrow(
      'ORRERY_MCP_PORT must be a port from 0 to 65535, or off.',
    );
  });
});
