import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { ClientMessage, CommandCall, Judged } from '#proto';
import { ForeignCommandHandler } from './foreign-command.handler.js';
import { endedWithout } from '../exec/outcome.js';

describe('a command of a foreign server', () => {
  it('meets the policy of the device as one that a person wrote', async () => {
    const asked: [CommandCall, Judged | undefined][] = [];
    const sent: ClientMessage[] = [];
    const called: string[] = [];
    const handler = new ForeignCommandHandler({
      tools: {
        has: () => true,
        serverOf: () => 'device',
        call: (tool) => {
          called.push(tool);
          return Promise.resolve({ kind: 'answered', isError: false, value: 'done' });
        },
      },
      gate: {
        refusal: (call, judged) => {
          asked.push([call, judged]);
          return Promise.resolve(
            call.tool === 'no' ? endedWithout('FAILED', 'POLICY_DENIED', 'denied, rule r') : undefined,
          );
        },
      },
      send: (message) => sent.push(message),
      sign: () => ({ clientId: 'd', requestId: 'q', now: 0 }),
      logger: pino({ level: 'silent' }),
    });
    const action = (tool: string) => ({ tool_name: tool, parameters: { a: 1 }, tool_type: 'action' as const });
    handler.onCommand({ type: 'command', status: 'ok', actions: [action('yes'), action('no'), action('yes')] });
    await handler.drain();
    expect(asked).toEqual([
      [{ tool: 'yes', arguments: { a: 1 } }, undefined],
      [{ tool: 'no', arguments: { a: 1 } }, undefined],
    ]);
    expect(called).toEqual(['yes']);
    expect(sent).toMatchObject([
      {
        action_results: [{ status: 'success' }, { status: 'failure', error: 'denied, rule r' }, { status: 'skipped' }],
      },
    ]);
  });
});
