import { serveTools, ToolResult, type HostedTool } from '#libs/mcp';
import { CommandWall, type ExecCliResult } from '#proto';
import {
  EXEC_CLI_DEFINITION,
  ExecCli,
  type Executed,
  AGENT_META,
  LIMIT_META,
  type ExecSettings,
  STDIN_FILE_META,
  SYS_INFO,
  sysInfo,
  WORKSPACE_META,
} from '../exec/index.js';
import { OUTPUT_FILES_META, clearOutputs } from '../output/index.js';
import { WALL_META } from '../sandbox/index.js';
import { SecretStore } from '../secrets/index.js';

/**
 * The device's own tools as an MCP server on its standard streams. It is a process of its own so that a tool that eats all
 * memory takes the tools down and not the journal. It must outlive nothing: when the client is gone, however it died, its
 * end of the pipe closes, and every command ends before this process does.
 */
export async function runDeviceTools(settings: ExecSettings): Promise<void> {
  const now = (): number => Date.now();
  const { spool, secretsDir } = settings;
  const secrets = secretsDir === null ? undefined : SecretStore.at(secretsDir);
  const exec = new ExecCli({ settings, env: process.env, now, secrets });
  // Every command inherits it, whatever the client was started with.
  process.umask(settings.umask);
  // The terminal's Ctrl-C reaches the whole foreground group: the client decides when the tools end.
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);
  const { promise: orphaned, resolve: end } = Promise.withResolvers<void>();
  process.once('SIGTERM', end);
  process.stdin.once('end', end);
  process.stdin.once('close', end);
  process.stdout.once('error', end);
  // Without the directory every whole output has a reason not to be kept, and commands run all the same.
  if (spool !== null) await clearOutputs(spool).catch(() => undefined);
  const host = await serveTools({ name: 'orrery-device', version: '1', tools: deviceTools(exec, now) });
  await Promise.race([orphaned, host.closed]);
  await exec.endAll();
}

function deviceTools(exec: ExecCli, now: () => number): HostedTool[] {
  return [
    {
      ...EXEC_CLI_DEFINITION,
      run: async (args, signal, { tell, meta }) => {
        const name = meta[STDIN_FILE_META];
        const stdinFile = typeof name === 'string' ? name : undefined;
        const directory = meta[WORKSPACE_META];
        const workspace = typeof directory === 'string' ? directory : undefined;
        const wall = CommandWall.optional().parse(meta[WALL_META]);
        const caller = { signal, tell, isAgents: meta[AGENT_META] === true, wall, workspace, stdinFile };
        return withFiles(await exec.runWhole(EXEC_CLI_DEFINITION.input.parse(args), caller));
      },
    },
    { ...SYS_INFO, run: (args) => sysInfo(SYS_INFO.input.parse(args).info_type, now) },
  ];
}

/** Whole outputs and limits go beside the result: where the files are is nobody's business but the client's. */
function withFiles({ result, files, limit }: Executed): ExecCliResult | ToolResult<ExecCliResult> {
  const meta = {
    ...(Object.keys(files).length > 0 && { [OUTPUT_FILES_META]: files }),
    ...(limit !== undefined && { [LIMIT_META]: limit }),
  };
  return Object.keys(meta).length === 0 ? result : new ToolResult(result, meta);
}
