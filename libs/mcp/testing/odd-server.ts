// A tool server that behaves as badly as its tools' names say. Run by node as it is: types are stripped, nothing else.
import { appendFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';

const [mode = 'normal', startsFile] = process.argv.slice(2);
if (startsFile !== undefined) appendFileSync(startsFile, 'started\n');
if (mode === 'mute') setInterval(() => undefined, 1_000);
if (mode === 'dies') {
  process.stderr.write('I cannot go on\n');
  process.exit(7);
}

const experimental = mode === 'silent' ? {} : { 'orrery/output': {} };
const server = new Server(
  { name: 'odd', version: '1' },
  { capabilities: { tools: { listChanged: true }, experimental } },
);
const names = ['structured', 'text', 'mixed', 'fails', 'hangs', 'exits', 'floods', 'grows', 'environment', 'breaks'];
const progress = async (progressToken: string | number, message: unknown, piece: unknown): Promise<void> => {
  const params = { progressToken, progress: 1, message, _meta: { 'orrery/output': piece } };
  await server.notification({ method: 'notifications/progress', params });
};
const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });

const tools: Record<string, (args: Record<string, unknown>) => CallToolResult | Promise<CallToolResult>> = {
  structured: (args) => ({ content: [{ type: 'text', text: 'not this' }], structuredContent: { args } }),
  text: () => text('just text'),
  mixed: () => ({
    content: [
      { type: 'text', text: 'a' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ],
  }),
  fails: () => ({ ...text('it failed'), isError: true }),
  hangs: () => new Promise(() => undefined),
  exits: () => process.exit(9),
  floods: () => {
    const noise = Buffer.alloc(64 * 1024, 'x');
    const more = (): void => void process.stderr.write(noise, () => setImmediate(more));
    for (let n = 0; n < 32; n++) more();
    return text('flooding');
  },
  grows: async () => {
    names.push(`grown-${names.length}`);
    await server.sendToolListChanged();
    return text('grown');
  },
  environment: () => text(Object.keys(process.env).sort().join(' ')),
  breaks: () => {
    throw new Error('broken inside');
  },
};

/** Says on the way what it writes, and what no honest server says. */
async function talk(token: string | number | undefined): Promise<CallToolResult> {
  if (token === undefined) return text('nobody listens');
  await progress(token, 'one', { stream: 'stdout', offset: 0 });
  await progress(token, 'half done', undefined);
  await progress(token, 'x', { stream: 'stdin', offset: 0 });
  await progress(token, 'x', { stream: 'stdout', offset: -1 });
  await progress(token, 'x', { stream: 'stdout', offset: 0.5 });
  await progress(token, 'x'.repeat(20_000), { stream: 'stdout', offset: 3 });
  await progress(token, undefined, { stream: 'stdout', offset: 3 });
  await progress(999, 'of another call', { stream: 'stdout', offset: 3 });
  await progress(token, 'two', { stream: 'stderr', offset: 7 });
  return text('said');
}

/** Three tools to a page. */
server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
  const start = Number(params?.cursor ?? 0);
  const page = names.slice(start, start + 3);
  const next = start + 3 < names.length ? { nextCursor: String(start + 3) } : {};
  return {
    tools: page.map((name) => ({
      name,
      description: `does ${name}`,
      inputSchema: { type: 'object' as const },
      annotations: { readOnlyHint: name === 'text' },
    })),
    ...next,
  };
});
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  const token = params._meta?.progressToken;
  if (params.name === 'talks') return talk(token);
  if (params.name === 'meta') return text(JSON.stringify(params._meta));
  const tool = tools[params.name];
  if (tool === undefined) throw new Error(`no tool ${params.name}`);
  return tool(params.arguments ?? {});
});
if (mode !== 'mute') await server.connect(new StdioServerTransport());
