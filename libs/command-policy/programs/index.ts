/** What each known program does with its arguments, as one table. */
import type { ProgramJudge } from '../calls/index.js';
import { ARCHIVES } from './archives.js';
import { awk } from './awk.js';
import { CHECKS } from './checks.js';
import { CONTAINERS } from './containers.js';
import { FILES } from './files.js';
import { find } from './find.js';
import { GIT } from './git.js';
import { NETWORK } from './network.js';
import { sed } from './sed.js';
import { SERVICE_PROGRAMS } from './services.js';
import { SHELL_PROGRAMS } from './shell.js';
import { SYSTEM } from './system.js';
import { TEXT } from './text.js';
import { WRAPPERS } from './wrappers.js';

/** Every program that the policy knows, by its name. A map: names come from commands, and `constructor` is no program. */
export const PROGRAMS: ReadonlyMap<string, ProgramJudge> = new Map(
  Object.entries({
    ...TEXT,
    ...FILES,
    ...ARCHIVES,
    ...SYSTEM,
    ...SERVICE_PROGRAMS,
    ...NETWORK,
    ...CONTAINERS,
    // Over what was said of servers and disks as a whole.
    ...CHECKS,
    ...GIT,
    ...SHELL_PROGRAMS,
    ...WRAPPERS,
    find,
    sed,
    ...Object.fromEntries(['awk', 'gawk', 'mawk', 'nawk', 'original-awk'].map((name) => [name, awk])),
  }),
);
