import type { Actor, Role } from './actors.js';
import type { QUERIES } from './queries.js';
import type { RunVerb } from './verbs.js';

/** What people look at beside queries. */
type Read = 'READ_RUNS' | 'WATCH' | 'READ_OUTPUT' | 'READ_LOG' | 'EXPORT' | 'VERIFY';
/** A query as it is named here. */
export type QueryAction = {
  [S in keyof typeof QUERIES]: `${S}.${keyof (typeof QUERIES)[S] & string}`;
}[keyof typeof QUERIES];
/** To have exact commands of a request or an edit run as they stand: those of everybody else are judged first. */
type Trust = 'RUN_UNJUDGED';
/** Everything that is allowed to somebody or not. A query is named `<service>.<name>`. */
export type ActionName = RunVerb | 'SUBMIT' | Trust | QueryAction | Read;

interface Rule {
  /** One of them is enough. */
  readonly roles: readonly Role[];
  /** One of them is enough for what is his own: a run that he asked for, a token that is his. */
  readonly own?: readonly Role[];
  /**
   * Asked by services among themselves; no role lets anybody in. `key`: the permissions of the key on the bus decide, and it is not
   * signed. `vouches`: signed by who may speak for others.
   */
  readonly services?: 'key' | 'vouches';
}

const LOOK = { roles: ['viewer', 'requester', 'approver', 'operator', 'auditor'] } as const satisfies Rule;
const AUDIT = { roles: ['auditor'] } as const satisfies Rule;
const OPERATE = { roles: ['operator'] } as const satisfies Rule;
const CONTROL = { roles: ['operator'], own: ['requester'] } as const satisfies Rule;
const DESK = { roles: ['approver', 'operator'] } as const satisfies Rule;
const ADMINISTER = { roles: ['admin'] } as const satisfies Rule;
const SERVICES = { roles: [], services: 'key' } as const satisfies Rule;
const ANYBODY = ['viewer', 'requester', 'approver', 'operator', 'auditor', 'admin'] as const satisfies readonly Role[];

/**
 * Who may do what: one row for each verb, query and read, and no action without a row. A viewer looks; a requester asks for runs and
 * controls his own; an approver decides; an operator controls every run and the fleet, writes what runs unasked, and decides nothing but no; an auditor
 * reads every log; an admin administers people, and nothing else.
 */
export const ROLE_TABLE: Readonly<Record<ActionName, Rule>> = {
  SUBMIT: { roles: ['requester'] },
  RUN_UNJUDGED: OPERATE,
  CANCEL: CONTROL,
  PAUSE: CONTROL,
  RESUME: CONTROL,
  RETRY: OPERATE,
  FORK: OPERATE,
  PROPOSE: CONTROL,
  SAY: CONTROL,
  BOARD_SET: CONTROL,
  BOARD_DELETE: CONTROL,
  ANNOTATE: CONTROL,
  DISCARD: OPERATE,
  APPROVE: { roles: ['approver'] },
  REJECT: { roles: ['approver', 'operator'] },
  ANSWER: { roles: ['approver', 'operator'], own: ['requester'] },

  'orchestrator.dlq-retry': OPERATE,
  'device-agent.dlq-retry': OPERATE,
  'device-agent.explain': LOOK,
  'device-agent.settings': LOOK,
  'device-agent.prompt': LOOK,
  'device-agent.workspaces': LOOK,
  'device-agent.deliver': SERVICES,
  'registry.devices': LOOK,
  'registry.enroll': OPERATE,
  'registry.device-set': OPERATE,
  'registry.enroll-client': OPERATE,
  'registry.clients': LOOK,
  'registry.revoke': OPERATE,
  'registry.revoke-grants': { roles: ['operator'], own: ANYBODY },
  'registry.revoked-grants': LOOK,
  'registry.join': SERVICES,
  'registry.renew': SERVICES,
  'registry.hold': OPERATE,
  'registry.release': OPERATE,
  'registry.people': { roles: ['admin', 'auditor'] },
  'registry.people-add': ADMINISTER,
  'registry.people-role': ADMINISTER,
  'registry.people-limits': { roles: ['operator', 'admin'] },
  'registry.people-revoke': ADMINISTER,
  'registry.people-key': ADMINISTER,
  'registry.people-login': ADMINISTER,
  'registry.tokens': { roles: ['admin', 'auditor'], own: ANYBODY },
  'registry.token-issue': ADMINISTER,
  'registry.token-revoke': { roles: ['admin'], own: ANYBODY },
  'registry.content-approve': { roles: ['approver'] },
  'registry.content-revoke': { roles: ['approver', 'operator'], own: ANYBODY },
  'registry.content-approvals': LOOK,
  'registry.token-used': { roles: [], services: 'vouches' },
  'registry.access': AUDIT,
  'registry.identify': SERVICES,
  'registry.revocations': SERVICES,
  'planner.dlq-retry': OPERATE,
  'planner.settings': LOOK,
  'planner.prompt': LOOK,
  'planner.match': LOOK,
  'planner.runbooks': LOOK,
  'planner.runbook': LOOK,
  'planner.experiences': LOOK,
  'planner.learn': OPERATE,
  'planner.demonstrate': OPERATE,
  'planner.forget': OPERATE,
  'planner.evaluate': OPERATE,
  'logging.runs': LOOK,
  'logging.approvals': LOOK,
  'logging.at-work': LOOK,
  'logging.run': LOOK,
  'logging.report': LOOK,
  'logging.attention': LOOK,
  'logging.attention-take': DESK,
  'logging.attention-settle': DESK,
  'logging.search': LOOK,
  'logging.metrics': LOOK,

  READ_RUNS: LOOK,
  WATCH: LOOK,
  READ_OUTPUT: LOOK,
  READ_LOG: AUDIT,
  EXPORT: AUDIT,
  VERIFY: AUDIT,
};

/** Whether who has these roles may do it. `own`: it is about what is his own (a run that he asked for, a token of his). */
export function mayDo(
  roles: readonly Role[],
  action: ActionName,
  { own = false }: { readonly own?: boolean } = {},
): boolean {
  const rule = ROLE_TABLE[action];
  const enough = own ? [...rule.roles, ...(rule.own ?? [])] : rule.roles;
  return enough.some((role) => roles.includes(role));
}

/** Whether it is signed by who asks: all that is no matter of services among themselves. */
export function isSignedAction(action: ActionName): boolean {
  return ROLE_TABLE[action].services !== 'key';
}

/** What somebody with these roles is told who may not do it; own things may need less. */
export function missingRole(action: ActionName, { id }: Actor, roles: readonly Role[]): string {
  const wanted = ROLE_TABLE[action].roles;
  const needs = wanted.length === 0 ? 'is for services only' : `needs the role ${wanted.join(' or ')}`;
  return `${action} ${needs}; ${id} has ${roles.length === 0 ? 'none' : roles.join(', ')}`;
}
