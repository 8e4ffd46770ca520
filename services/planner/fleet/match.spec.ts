import { describe, expect, it } from '@jest/globals';
import { ScriptedChatModel } from '#libs/llm';
import { parseRunbook } from '#libs/planner';
import { PlanningFleet } from './fleet.js';
import { MatchQueries } from './match.controller.js';
import { profileOf } from '../testing/planner-world.js';

const parsed = parseRunbook(
  {
    name: 'restart',
    title: 'Restart',
    description: 'restarts nginx',
    parameters: [{ name: 'device', description: 'where', required: true, type: 'device' }],
    constellation: {
      tasks: [
        {
          task_id: 'a',
          name: 'Restart',
          target_device_id: '{{ p.device }}',
          command: { tool: 'EXEC_CLI', arguments: { command: 'service nginx restart' } },
        },
      ],
      dependencies: [],
    },
  },
  'b'.repeat(64),
  'shipped',
);
if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues));
const fleet = new PlanningFleet();
fleet.replace(new Map([['web-1', profileOf('web-1')]]));
fleet.served([], 0);
const handler = (hasModel: boolean, runbooks = [parsed.runbook]) =>
  new MatchQueries({ shelf: { runbooks, problems: [] }, model: hasModel ? new ScriptedChatModel([]) : null }, fleet);

describe('a goal', () => {
  it("that names a runbook is the runbook's, also where there is a model", async () => {
    expect(await handler(true).match({ goal: 'restart device=web-1' })).toEqual({
      kind: 'runbook',
      name: 'restart',
      parameters: { device: 'web-1' },
    });
  });

  it('that names a runbook with wrong parameters is refused, and not left to the model', async () => {
    expect(await handler(true).match({ goal: 'restart host=web-1' })).toEqual({
      kind: 'none',
      message: expect.stringContaining('parameters.host: '),
    });
  });

  it("that no runbook is for is the model's; without one it is refused with the runbooks that there are", async () => {
    expect(await handler(true).match({ goal: 'write a poem' })).toEqual({ kind: 'model' });
    expect(await handler(false).match({ goal: 'write a poem' })).toEqual({
      kind: 'none',
      message: expect.stringMatching(/no model is configured.*OPENAI_BASE_URL.*runbooks: restart$/u),
    });
  });
});

describe('the plan of a runbook', () => {
  it('is made for the fleet as it is, or is none with what is wrong', async () => {
    const made = await handler(false).runbook({ name: 'restart', parameters: { device: 'web-1' } });
    expect(made).toMatchObject({ issues: [], constellation: { tasks: [{ id: 'a', target: { device: 'web-1' } }] } });
    const none = await handler(false).runbook({ name: 'restart', parameters: { device: 'web-9' } });
    expect(none).toMatchObject({ constellation: null, issues: [{ path: 'parameters.device' }] });
  });

  it('of a name that none has is refused with the names that there are', async () => {
    const wanted = { name: 'reboot', parameters: {} };
    await expect(handler(false).runbook(wanted)).rejects.toMatchObject({
      refusal: {
        code: 'NOT_FOUND',
        message: 'There is no runbook reboot.',
        issues: [{ path: 'name', message: 'must be one of restart' }],
      },
    });
    await expect(handler(false, []).runbook(wanted)).rejects.toMatchObject({
      refusal: { issues: [{ path: 'name', message: 'there are none' }] },
    });
  });
});
