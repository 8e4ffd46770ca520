import { randomBytes } from 'node:crypto';
import { AdbDevice, type AdbAddress } from '#libs/adb';
import { serveTools, ToolFailure, type HostedTool } from '#libs/mcp';
import type { MobileSettings } from '#proto';
import { PhoneFault } from '../faults/index.js';
import { Phone } from '../phone/index.js';
import { ScreenListing } from '../screen/index.js';
import { actingTools } from './acting-tools.runner.js';
import { PhoneDesk } from './desk.runner.js';
import { lookingTools } from './looking-tools.js';
import { Turns } from './turns.js';

/** One phone as an MCP server on the standard streams, until its client is gone. */
export async function runMobileTools(settings: MobileSettings): Promise<void> {
  // The terminal's Ctrl-C reaches the whole foreground group: the client decides when the tools end.
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);
  const { promise: orphaned, resolve: end } = Promise.withResolvers<void>();
  process.once('SIGTERM', end);
  process.stdin.once('end', end);
  process.stdin.once('close', end);
  process.stdout.once('error', end);
  const host = await serveTools({ name: 'orrery-mobile', version: '1', tools: mobileTools(settings) });
  await Promise.race([orphaned, host.closed]);
}

function mobileTools({ serial, server, applications }: MobileSettings): HostedTool[] {
  const phone = new Phone(new AdbDevice(addressOf(server), serial));
  const desk = new PhoneDesk(phone, new ScreenListing(randomBytes(4).toString('hex')));
  const setting = { phone, desk, turns: new Turns(), applications: new Set(applications) };
  return [...lookingTools(setting), ...actingTools(setting)].map(withCodes);
}

function addressOf(server: string): AdbAddress {
  if (server.startsWith('/')) return { path: server };
  const colon = server.lastIndexOf(':');
  return { host: server.slice(0, colon), port: Number(server.slice(colon + 1)) };
}

/** What a tool has not done is told with its code first, for who has to decide by it. */
function withCodes(tool: HostedTool): HostedTool {
  return {
    ...tool,
    run: async (args, signal, caller) => {
      try {
        return await tool.run(args, signal, caller);
      } catch (error) {
        if (!(error instanceof PhoneFault)) throw error;
        throw new ToolFailure(`${error.code}: ${error.message}`);
      }
    },
  };
}
