import { bubblewrap } from './bubblewrap.adapter.js';
import type { SandboxKind, SandboxPort } from './sandbox.js';
import { utilLinux } from './util-linux.adapter.js';

/** Everything that can make a wall, the better one first. */
export const SANDBOXES: Readonly<Record<SandboxKind, SandboxPort>> = { bwrap: bubblewrap, 'util-linux': utilLinux };
