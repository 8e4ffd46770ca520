import { fileURLToPath } from 'node:url';
import type { DesktopSettings } from '#proto';
import { keptEnvironment } from './own-tools.adapter.js';
import type { ToolboxServer } from './toolbox.client.js';

/** Waiting takes up to five minutes, and typing a long text takes one; this ends a call that the tools have forgotten. */
const TIMEOUT_MS = 10 * 60_000;

/** The tools for a desktop, as a child process: a service of its own. The display is named to it, and never inherited. */
export function desktopServer(settings: DesktopSettings): ToolboxServer {
  const main = fileURLToPath(new URL('../../desktop-tools/main.js', import.meta.url));
  const { authority } = settings;
  const directory = process.env['XDG_RUNTIME_DIR'];
  return {
    name: 'desktop',
    timeoutMs: TIMEOUT_MS,
    hasScreen: true,
    isExclusive: true,
    spec: {
      kind: 'stdio',
      command: process.execPath,
      args: [...process.execArgv, main, JSON.stringify(settings)],
      env: {
        ...keptEnvironment(),
        ...(directory !== undefined && { XDG_RUNTIME_DIR: directory }),
        ...(authority !== undefined && { XAUTHORITY: authority }),
      },
    },
  };
}
