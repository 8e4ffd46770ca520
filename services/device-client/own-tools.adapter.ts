import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXEC_LIMITS } from './exec-cli.js';
import type { SpoolOptions } from './output-spool.adapter.js';
import type { ToolboxServer } from './toolbox.client.js';

/** The output of commands passes through many short-lived buffers: cleaned up soon, they need 25 MB instead of 75. */
const SMALL_MEMORY = ['--max-semi-space-size=1'];

/** The device's own tools, as a child process on real MCP. */
export function ownServer(jailDir: string, outputs?: SpoolOptions): ToolboxServer {
  const main = fileURLToPath(new URL(`./device-mcp.main${extname(import.meta.url)}`, import.meta.url));
  const locale = ['LANG', 'LC_ALL', 'LC_CTYPE', 'TZ'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const kept = outputs === undefined ? [] : [outputs.dir, String(outputs.bytesMax)];
  return {
    name: 'device',
    // A command has its own timeout; this one only ends a call that the child has forgotten.
    timeoutMs: (EXEC_LIMITS.timeoutSecondsMax + 60) * 1_000,
    spec: {
      kind: 'stdio',
      command: process.execPath,
      args: [...process.execArgv, ...SMALL_MEMORY, main, jailDir, ...kept],
      env: Object.fromEntries(locale),
    },
  };
}
