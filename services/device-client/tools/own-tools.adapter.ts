import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXEC_LIMITS, type ExecSettings } from '../exec/index.js';
import type { ToolboxServer } from './toolbox.client.js';

/** The output of commands passes through many short-lived buffers: cleaned up soon, they need 25 MB instead of 75. */
const SMALL_MEMORY = ['--max-semi-space-size=1'];

/** Beside the few that MCP gives to every server: words, times, and where files of this device may lie. Commands get none of them from here. */
const KEPT = /^(?:LANG|LC_[A-Z]+|TZ|TMPDIR|NODE_COMPILE_CACHE)$/;

/** What a server of ours may know of the environment of the client. */
export function keptEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && KEPT.test(name) ? [[name, value] as const] : [],
  );
  return Object.fromEntries(kept);
}

/** The device's own tools, as a child process on real MCP. */
export function ownServer(settings: ExecSettings): ToolboxServer {
  const main = fileURLToPath(new URL(`./device-mcp.main${extname(import.meta.url)}`, import.meta.url));
  return {
    name: 'device',
    // A command has its own timeout; this one only ends a call that the child has forgotten.
    timeoutMs: (EXEC_LIMITS.timeoutSecondsMax + 60) * 1_000,
    spec: {
      kind: 'stdio',
      command: process.execPath,
      args: [...process.execArgv, ...SMALL_MEMORY, main, JSON.stringify(settings)],
      env: keptEnvironment(),
    },
  };
}
