// An MCP server with one tool that does nothing: what remains of a task on a device when no program is started for it.
import { z } from 'zod';
import { serveTools } from '#libs/mcp';

process.stdin.once('end', () => process.exit(0));
const host = await serveTools({
  name: 'bench',
  version: '1',
  tools: [
    {
      name: 'NOOP',
      title: 'Do nothing',
      description: 'Returns at once.',
      input: z.object({}),
      output: z.object({}),
      readOnly: true,
      run: () => Promise.resolve({}),
    },
  ],
});
await host.closed;
process.exit(0);
