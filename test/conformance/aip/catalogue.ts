import type { Check } from './check.js';
import { COMMANDS } from './checks/commands.js';
import { CONSTELLATION } from './checks/constellation.js';
import { CREDENTIALS } from './checks/credentials.js';
import { EXECUTION } from './checks/execution.js';
import { FILE_TRANSFER } from './checks/files.js';
import { HANDSHAKE } from './checks/handshake.js';
import { HEARTBEATS, WEB_SOCKET } from './checks/heartbeat.js';
import { REGISTER } from './checks/register.js';
import { NUMBERING } from './checks/numbering.js';
import { REVISION_2 } from './checks/revision-2.js';
import { WORK } from './checks/work.js';
import { WRONG_FRAMES } from './checks/wrong-frames.js';

/** Everything that is demanded of a server, in the order in which a report shows it. */
export const CATALOGUE: readonly Check[] = [
  ...HANDSHAKE,
  ...REGISTER,
  ...HEARTBEATS,
  ...WEB_SOCKET,
  ...WRONG_FRAMES,
  ...COMMANDS,
  ...CONSTELLATION,
  ...EXECUTION,
  ...CREDENTIALS,
  ...REVISION_2,
  ...NUMBERING,
  ...WORK,
  ...FILE_TRANSFER,
];
