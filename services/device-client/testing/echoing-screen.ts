// A tool server with tools of a screen, which says what came with each call. Run by node as it is: types are stripped, nothing else.
interface StandIn {
  readonly name: string;
  readonly capabilities: object;
  readonly list: () => object;
  readonly call: (params: Readonly<Record<string, unknown>>, signal: AbortSignal) => object | Promise<object>;
}

// By its file: Node finds it only under the name that it has here.
const { servePlain } = (await import(new URL('../../../libs/mcp/testing/plain-server.ts', import.meta.url).href)) as {
  readonly servePlain: (server: StandIn) => void;
};

const names = ['set_edit_text', 'keyboard_input'];
servePlain({
  name: 'echoing-screen',
  capabilities: { tools: {} },
  list: () => ({ tools: names.map((name) => ({ name, description: 'x', inputSchema: { type: 'object' } })) }),
  call: ({ arguments: given, _meta: meta }) => ({
    content: [],
    structuredContent: {
      given,
      secret: (meta as Readonly<Record<string, unknown>> | undefined)?.['orrery/secret'] ?? null,
      directory: (meta as Readonly<Record<string, unknown>> | undefined)?.['orrery/run-directory'] ?? null,
      attempt: (meta as Readonly<Record<string, unknown>> | undefined)?.['orrery/attempt'] ?? null,
    },
  }),
});
