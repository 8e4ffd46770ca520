import { fileURLToPath } from 'node:url';
import type { MobileSettings } from '#proto';
import { keptEnvironment } from './own-tools.adapter.js';
import type { ToolboxServer } from './toolbox.client.js';

/** Above what the longest call of it takes: a look at a phone, an action, and looks again. */
const TIMEOUT_MS = 5 * 60_000;

/** The tools for a phone, as a child process: a service of its own, which knows its settings and nothing of the client. */
export function mobileServer(settings: MobileSettings): ToolboxServer {
  const main = fileURLToPath(new URL('../../mobile-tools/main.js', import.meta.url));
  const args = [...process.execArgv, main, JSON.stringify(settings)];
  return {
    name: 'mobile',
    timeoutMs: TIMEOUT_MS,
    hasScreen: true,
    isExclusive: true,
    spec: { kind: 'stdio', command: process.execPath, args, env: keptEnvironment() },
  };
}
