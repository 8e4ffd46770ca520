import { serveTools, type HostedTool } from '#libs/mcp';
import { EXEC_CLI } from './exec-cli.js';
import { ExecCli } from './exec-cli.runner.js';
import { SYS_INFO, sysInfo } from './sys-info.adapter.js';

/**
 * The device's own tools as an MCP server on its standard streams. It is a process of its own so that a tool that eats all
 * memory takes the tools down and not the journal. It must outlive nothing: when the client is gone, however it died, its
 * end of the pipe closes, and every command ends before this process does.
 */
export async function runDeviceTools(jailDir: string): Promise<void> {
  const now = (): number => Date.now();
  const exec = new ExecCli({ jailDir, env: process.env, now });
  // The terminal's Ctrl-C reaches the whole foreground group: the client decides when the tools end.
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);
  const { promise: orphaned, resolve: end } = Promise.withResolvers<void>();
  process.once('SIGTERM', end);
  process.stdin.once('end', end);
  process.stdin.once('close', end);
  process.stdout.once('error', end);
  const host = await serveTools({ name: 'orrery-device', version: '1', tools: deviceTools(exec, now) });
  await Promise.race([orphaned, host.closed]);
  await exec.endAll();
}

function deviceTools(exec: ExecCli, now: () => number): HostedTool[] {
  return [
    { ...EXEC_CLI, run: (args, signal) => exec.run(EXEC_CLI.input.parse(args), signal) },
    { ...SYS_INFO, run: (args) => sysInfo(SYS_INFO.input.parse(args).info_type, now) },
  ];
}
