import type { ClientMessage, ClientRole, DeviceId } from '#proto';

/*
 * Who may send what, and when. Role and identity come from the credential, never from a frame; what does not stand here is
 * refused.
 */

export type MessageType = ClientMessage['type'];

/** How far a connection has come. LISTING_TOOLS only for foreign devices, RESUMING only for devices of revision 2. */
export type OpenPhase = 'AWAITING_REGISTER' | 'LISTING_TOOLS' | 'CLAIMING' | 'RESUMING' | 'READY';

/** Anybody who has registered may live, complain, acknowledge a TASK_END, and be told that a task is not taken. */
const REGISTERED: readonly MessageType[] = ['heartbeat', 'error', 'task', 'task_end'];
const NUMBERED: readonly MessageType[] = [...REGISTERED, 'ack', 'credential'];
const FILES: readonly MessageType[] = [
  'file_begin',
  'file_chunk',
  'file_end',
  'file_request',
  'file_ack',
  'file_abort',
];
const WORKSPACES: readonly MessageType[] = ['run_forgotten', 'workspaces'];
const NOTHING: readonly MessageType[] = [];

const ALLOWED: Readonly<Record<ClientRole, Readonly<Record<OpenPhase, ReadonlySet<MessageType>>>>> = {
  device: {
    AWAITING_REGISTER: new Set(['register']),
    LISTING_TOOLS: new Set([...REGISTERED, 'command_results']),
    CLAIMING: new Set(REGISTERED),
    RESUMING: new Set([...NUMBERED, 'resume']),
    READY: new Set([
      ...NUMBERED,
      ...FILES,
      'command_results',
      'command_progress',
      'command_output',
      'device_info_response',
      ...WORKSPACES,
    ]),
  },
  constellation: {
    AWAITING_REGISTER: new Set(['register']),
    LISTING_TOOLS: new Set(NOTHING),
    CLAIMING: new Set(REGISTERED),
    RESUMING: new Set(NOTHING),
    READY: new Set([...REGISTERED, 'device_info_request']),
  },
};

/** What only devices that offered this revision may send: the others could not know what it does. */
const SINCE_REVISION: Partial<Record<MessageType, number>> = {
  command_progress: 1,
  resume: 2,
  ack: 2,
  credential: 2,
  command_output: 2,
  device_info_response: 2,
  ...Object.fromEntries([...FILES, ...WORKSPACES].map((type) => [type, 2])),
};

/** Nothing follows from what these say of their sender: clients of other systems put odd names and roles into some of them. */
const ANONYMOUS = new Set<MessageType>(['register', 'heartbeat', 'error', 'task_end', 'ack']);

export interface FrameSender {
  readonly role: ClientRole;
  readonly identity: DeviceId;
  readonly phase: OpenPhase;
  /** Null for clients that know nothing of our revisions. */
  readonly revision: number | null;
}

/** Why this client may not send this message now, as a sentence for people; null when it may. */
export function objectionTo(message: ClientMessage, sender: FrameSender): string | null {
  const { type } = message;
  const { role, phase, identity, revision } = sender;
  if (!ALLOWED[role][phase].has(type)) return outOfPlace(type, sender);
  const since = SINCE_REVISION[type];
  if (role === 'device' && since !== undefined && (revision ?? 0) < since) return `${type} needs revision ${since}`;
  if (ANONYMOUS.has(type)) return null;
  if (message.client_type !== role) return 'client_type does not match the registered connection';
  // A constellation client calls itself as it likes: its name is a label.
  if (role === 'device' && (message.client_id ?? identity) !== identity) {
    return 'client_id does not match the registered connection';
  }
  return null;
}

function outOfPlace(type: MessageType, { role, phase }: FrameSender): string {
  if (phase === 'AWAITING_REGISTER') return 'REGISTER comes first';
  if (type === 'register') return 'this connection is already registered';
  if (!ALLOWED[role].READY.has(type) && !ALLOWED[role].RESUMING.has(type))
    return `a ${role} client may not send ${type}`;
  if (phase === 'RESUMING') return 'RESUME comes first';
  if (phase === 'READY') return 'RESUME comes once, before everything else';
  return 'the registration is not confirmed yet';
}
