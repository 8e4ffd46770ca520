import { bubblewrap } from './bubblewrap.adapter.js';
import type { WallView } from '#proto';
import type { Sandbox, SandboxKind, SandboxPort } from './sandbox.js';
import { utilLinux } from './util-linux.adapter.js';

/** What a command behind this wall can be shown truly. */
export function viewsBehind(sandbox: Pick<Sandbox, 'kind' | 'user' | 'showsTmp' | 'programs'>): WallView[] {
  const { kind, user, showsTmp } = sandbox;
  // In a namespace of users everybody else's things seem to be nobody's; but there was nothing that only the client could read.
  const ofUser: WallView = user.isOther ? 'owners' : 'privileged-read';
  const network = SANDBOXES[kind].hasFilter(sandbox);
  return [
    'host-processes',
    'host-devices',
    ...(network ? (['host-network'] as const) : []),
    ofUser,
    ...(showsTmp === true ? (['host-tmp'] as const) : []),
  ];
}

/** Everything that can make a wall, the better one first. */
export const SANDBOXES: Readonly<Record<SandboxKind, SandboxPort>> = { bwrap: bubblewrap, 'util-linux': utilLinux };
