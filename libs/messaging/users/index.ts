/**
 * Users of the bus: what each may publish and read, whose keys are whose, and whose word a proof is. Keys themselves are made and
 * checked in `libs/keys`.
 */
export * from './actors.adapter.js';
export * from './authority.js';
export * from './nats-users.js';
export * from './people-keys.adapter.js';
export * from './people-users.js';
export { parseActors, readActorsFile, renderActors } from './actors-file.js';
export { builtInActor, trustedBefore, type Trusted } from './built-in-actors.js';
export type { Directory, DirectoryEntry } from './directory.js';
export {
  ADMIN_TOKEN_SUBJECT,
  clientVouched,
  DEFAULT_NAMESPACE,
  FIRST_PERSON,
  KEY_SUBJECT,
  logsInByKey,
  OWN_ISSUER,
  TOKEN_SUBJECT,
} from './vouching.js';
