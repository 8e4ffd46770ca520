import { serveTools, type HostedTool } from '#libs/mcp';
import { Slots } from '#libs/slots';
import type { DesktopSettings } from '#proto';
import { Acting, DeskState, DesktopConnection, Looking } from '../desk/index.js';
import { Browsers, clearLeftDownloads } from '../devtools/index.js';
import { Launcher } from '../launch/index.js';
import { desktopActingTools } from './acting-tools.runner.js';
import { desktopLookingTools } from './looking-tools.js';
import { desktopPageTools } from './page-tools.runner.js';
import { desktopSheetTools } from './sheet-tools.runner.js';
import { callersAttempt } from './tool.js';

/** Serves the tools of a desktop on the standard streams, until the device client ends. */
export async function runDesktopTools(
  settings: DesktopSettings,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  // Whatever is in its way there: it is tried again at the next start.
  await clearLeftDownloads().catch(() => undefined);
  const desk = new DeskState(settings, new DesktopConnection(settings));
  const acting = new Acting(desk, () => performance.now());
  const browsers = new Browsers();
  const launcher = new Launcher({ desk, acting, browsers }, env);
  // The terminal's Ctrl-C reaches the whole foreground group: the client decides when the tools end.
  process.on('SIGINT', () => undefined);
  const { promise: orphaned, resolve: end } = Promise.withResolvers<void>();
  process.once('SIGTERM', end);
  process.stdin.once('end', end);
  process.stdin.once('close', end);
  process.stdout.once('error', end);
  const tools = oneAtATime(desk, [
    ...desktopLookingTools(desk, new Looking(desk)),
    ...desktopActingTools(desk, acting, launcher),
    ...desktopSheetTools(desk),
    ...desktopPageTools(desk, browsers),
  ]);
  const host = await serveTools({ name: 'orrery-desktop', version: '1', tools });
  await Promise.race([orphaned, host.closed]);
  desk.close();
}

/** There is one mouse: who looks while another acts sees what is not there any more. */
function oneAtATime(desk: DeskState, tools: readonly HostedTool[]): HostedTool[] {
  const turns = new Slots(1);
  return tools.map((tool) => ({
    ...tool,
    run: (args, signal, caller) =>
      turns.use(async () => {
        desk.calledBy(callersAttempt(caller));
        return tool.run(args, signal, caller);
      }),
  }));
}
