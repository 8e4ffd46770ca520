import type { InstallPlaces } from './install-places.js';

/** Whose systemd it is: that of the machine, or that of one user. */
export type UnitScope = 'system' | 'user';

/**
 * Nothing here may take from the client what its wall is made of: no PrivateUsers, RestrictNamespaces or SystemCallFilter, and nothing that
 * covers a part of /proc (ProtectKernelTunables, ProtectKernelLogs, ProtectProc), after which the kernel lets nobody mount a new one.
 * The systemd of a user cannot mount at all.
 */
const HARDENING: Readonly<Record<UnitScope, readonly string[]>> = {
  system: ['ProtectSystem=full', 'ProtectKernelModules=yes', 'ProtectControlGroups=yes', 'ProtectClock=yes'],
  user: [],
};

/** The unit of a device client. A person changes it with a drop-in (`systemctl edit`), which an upgrade leaves alone. */
export function unitText({ dir, program }: InstallPlaces, scope: UnitScope): string {
  const start = `${program} run`.replaceAll('%', '%%');
  return `# Written by "orrery-device install". Changes belong into a drop-in: systemctl edit.
[Unit]
Description=Device client of Orrery
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
ExecStart=${start}
Restart=always
RestartSec=2
# Bad input and refused tokens: no waiting repairs them.
RestartPreventExitStatus=3 4
# The client ends its commands itself, and has told their results by then.
KillMode=mixed
TimeoutStopSec=15
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
SystemCallArchitectures=native
KeyringMode=private
${HARDENING[scope].map((line) => `${line}\n`).join('')}ReadWritePaths=${dir}

[Install]
WantedBy=${scope === 'system' ? 'multi-user.target' : 'default.target'}
`;
}
