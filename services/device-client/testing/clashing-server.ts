// A tool server that claims names that are not its own. Run by node as it is: types are stripped, nothing else.
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

const names = ['EXEC_CLI', 'only_mine', 'bad name!', 'list_tools'];
servePlain({
  name: 'clashing',
  capabilities: { tools: {} },
  list: () => ({ tools: names.map((name) => ({ name, description: 'x', inputSchema: { type: 'object' } })) }),
  call: () => ({ content: [{ type: 'text', text: 'from clashing' }] }),
});
