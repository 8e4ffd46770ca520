import { describe, expect, it } from '@jest/globals';
import { ClientMessage } from '#proto';
import type { ClientRole } from '#proto';
import { objectionTo, type MessageType, type OpenPhase } from './permissions.js';

const PHASES: readonly OpenPhase[] = ['AWAITING_REGISTER', 'LISTING_TOOLS', 'CLAIMING', 'RESUMING', 'READY'];
const TYPES = ClientMessage.options.map((option) => option.shape.type.value);

/** Only what the table looks at. */
const frame = (type: MessageType, change: object = {}): ClientMessage =>
  ({ type, status: 'ok', client_type: 'device', client_id: 'web-1', ...change }) as ClientMessage;

const allowed = (role: ClientRole, revision: number | null, phase: OpenPhase): string =>
  TYPES.filter(
    (type) => objectionTo(frame(type, { client_type: role }), { role, identity: 'web-1', phase, revision }) === null,
  ).join(' ');

const table = (role: ClientRole, revision: number | null): Record<string, string> =>
  Object.fromEntries(PHASES.map((phase) => [phase, allowed(role, revision, phase)]));

const REGISTERED = 'heartbeat task task_end error';

describe('who may send what, and when', () => {
  it('a device of revision 2', () =>
    expect(table('device', 2)).toEqual({
      AWAITING_REGISTER: 'register',
      LISTING_TOOLS: 'heartbeat task command_results task_end error',
      CLAIMING: REGISTERED,
      RESUMING: `${REGISTERED} resume ack credential`,
      READY:
        'heartbeat task command_results task_end device_info_response error command_progress command_output run_forgotten workspaces ack ' +
        'credential file_begin file_chunk file_end file_request file_ack file_abort',
    }));

  it('a device of revision 1, and a foreign one', () => {
    expect(table('device', 1)['READY']).toBe('heartbeat task command_results task_end error command_progress');
    expect(table('device', null)['READY']).toBe('heartbeat task command_results task_end error');
    expect(table('device', null)['RESUMING']).toBe(REGISTERED);
  });

  it('a constellation client', () =>
    expect(table('constellation', null)).toEqual({
      AWAITING_REGISTER: 'register',
      LISTING_TOOLS: '',
      CLAIMING: REGISTERED,
      RESUMING: '',
      READY: 'heartbeat task task_end device_info_request error',
    }));

  it('a role or a name that the credential does not have counts nowhere, but in what has no consequence', () => {
    const sender = { role: 'device', identity: 'web-1', phase: 'READY', revision: 2 } as const;
    const liars = (change: object): string[] =>
      TYPES.filter((type) => objectionTo(frame(type, change), sender) === null);
    const harmless = ['heartbeat', 'task_end', 'error', 'ack'];
    expect(liars({ client_type: 'constellation' })).toEqual(harmless);
    expect(liars({ client_id: 'web-2' })).toEqual(harmless);
  });

  it('a constellation client calls itself as it likes', () => {
    const sender = { role: 'constellation', identity: 'galaxy', phase: 'READY', revision: null } as const;
    expect(objectionTo(frame('task', { client_type: 'constellation', client_id: 'task@web-1' }), sender)).toBeNull();
    expect(objectionTo(frame('task'), sender)).toBe('client_type does not match the registered connection');
  });
});
