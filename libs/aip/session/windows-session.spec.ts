import { describe, expect, it } from '@jest/globals';
import { AIP_LIMITS } from '#proto';
import type { ClientMessage, Identity } from '#proto';
import { authorised, layered } from '../frames/middleware.js';
import { openSession, senderOf, type Session, type SessionEffect, type SessionInput } from './session-state.js';
import { step as bareStep } from './session.js';

const step = layered<Session, SessionInput, SessionEffect>(bareStep, authorised(senderOf));
const IDENTITY: Identity = { id: 'web-1', role: 'device', targets: null, expiresAt: null };
const BASE = { status: 'ok', client_type: 'device', client_id: 'web-1' } as const;
const message = (given: ClientMessage): SessionInput => ({ kind: 'message', message: given });
const tick: SessionInput = { kind: 'tick' };

/** Folds the given inputs (all at 0 ms); `when` gives the effects of the last one. */
function given(...inputs: SessionInput[]) {
  const session = inputs.reduce<Session>((state, input) => step(state, input, 0)[0], openSession(IDENTITY, 0));
  return {
    when: (input: SessionInput, nowMs = 0) => {
      const [{ phase }, effects] = step(session, input, nowMs);
      return { phase, effects };
    },
  };
}

describe('REGISTER of a client of a Windows machine', () => {
  const windows = message({ ...BASE, type: 'register', metadata: { platform: 'windows' } });
  const names = (id: string, ...tools: string[]) =>
    message({
      ...BASE,
      type: 'command_results',
      prev_response_id: id,
      action_results: [{ status: 'success', result: tools.map((tool) => ({ tool_name: tool })) }],
    });
  const ofHost = names('list_tools', 'select_application_window');
  const ofApp = names('list_tools:1', 'click_input');

  it('is followed by the question for the tools of both its agents', () =>
    expect(given().when(windows).effects.slice(1)).toMatchObject([
      { message: { agent_name: 'HostAgent', process_name: '', root_name: '' } },
      { message: { agent_name: 'AppAgent', process_name: '', root_name: '' } },
    ]));

  it('is shown to others with the tools of both, and with those that it never lists', () => {
    expect(given(windows).when(ofHost)).toEqual({ phase: 'LISTING_TOOLS', effects: [] });
    const [claim] = given(windows, ofHost).when(ofApp).effects;
    const tools = claim?.kind === 'claim' ? claim.client.telemetry.tools.map(({ name }) => name) : [];
    expect(tools).toEqual(
      expect.arrayContaining([
        'select_application_window',
        'click_input',
        'capture_window_screenshot',
        'get_range_values',
      ]),
    );
    expect(new Set(tools).size).toBe(tools.length);
  });

  it('that answers for one of them only is used with what it has named', () => {
    const [claim] = given(windows, ofHost).when(tick, AIP_LIMITS.listToolsMs).effects;
    expect(claim).toMatchObject({ kind: 'claim', client: { toolsKnown: true } });
  });
});
