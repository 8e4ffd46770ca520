// A tool server that behaves as badly as its tools' names say. Run by node as it is: types are stripped, nothing else.
import { appendFileSync } from 'node:fs';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type * as Plain from './plain-server.js';

// By its file: Node finds it only under the name that it has here.
const { servePlain } = (await import(new URL('./plain-server.ts', import.meta.url).href)) as typeof Plain;

const [mode = 'normal', startsFile] = process.argv.slice(2);
if (startsFile !== undefined) appendFileSync(startsFile, 'started\n');
if (mode === 'mute') setInterval(() => undefined, 1_000);
if (mode === 'dies') {
  process.stderr.write('I cannot go on\n');
  process.exit(7);
}

const experimental = mode === 'silent' ? {} : { 'orrery/output': {} };
let notify: ReturnType<typeof servePlain>;
const names = ['structured', 'text', 'mixed', 'fails', 'hangs', 'exits', 'floods', 'grows', 'environment', 'breaks'];
const progress = (progressToken: string | number, message: unknown, piece: unknown): void => {
  const params = { progressToken, progress: 1, message, _meta: { 'orrery/output': piece } };
  notify('notifications/progress', params);
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
  grows: () => {
    names.push(`grown-${names.length}`);
    notify('notifications/tools/list_changed');
    return text('grown');
  },
  environment: () => text(Object.keys(process.env).sort().join(' ')),
  breaks: () => {
    throw new Error('broken inside');
  },
};

/** Says on the way what it writes, and what no honest server says. */
function talk(token: string | number | undefined): CallToolResult {
  if (token === undefined) return text('nobody listens');
  progress(token, 'one', { stream: 'stdout', offset: 0 });
  progress(token, 'half done', undefined);
  progress(token, 'x', { stream: 'stdin', offset: 0 });
  progress(token, 'x', { stream: 'stdout', offset: -1 });
  progress(token, 'x', { stream: 'stdout', offset: 0.5 });
  progress(token, 'x'.repeat(20_000), { stream: 'stdout', offset: 3 });
  progress(token, undefined, { stream: 'stdout', offset: 3 });
  progress(999, 'of another call', { stream: 'stdout', offset: 3 });
  progress(token, 'two', { stream: 'stderr', offset: 7 });
  return text('said');
}

/** Three tools to a page. */
const list = (cursor: unknown): object => {
  const start = Number(cursor ?? 0);
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
};

interface Call {
  readonly name: string;
  readonly arguments?: Record<string, unknown>;
  readonly _meta?: { readonly progressToken?: string | number };
}

const call = (params: Call): CallToolResult | Promise<CallToolResult> => {
  if (params.name === 'talks') return talk(params._meta?.progressToken);
  if (params.name === 'meta') return text(JSON.stringify(params._meta));
  const tool = tools[params.name];
  if (tool === undefined) throw new Error(`no tool ${params.name}`);
  return tool(params.arguments ?? {});
};
if (mode !== 'mute') {
  const capabilities = { tools: { listChanged: true }, experimental };
  notify = servePlain({
    name: 'odd',
    capabilities,
    list: ({ cursor }) => list(cursor),
    call: (params) => call(params as unknown as Call),
  });
}
