// The tools of a recorded device, with the answers that were recorded. Run by node as it is: types are stripped, nothing else.
import { appendFileSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';

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

interface Listed {
  readonly tool_name: string;
  readonly description: string;
  readonly input_schema: Tool['inputSchema'];
  readonly output_schema: Tool['outputSchema'];
}
interface Recorded {
  readonly tools: Listed[];
  readonly answers: {
    tool: string;
    parameters: unknown;
    answer: { status: string; result?: unknown; error?: string };
  }[];
}

const [recordFile = '', marksFile = ''] = process.argv.slice(2);
const { tools, answers } = JSON.parse(readFileSync(recordFile, 'utf8')) as Recorded;
const list = (): object => ({
  tools: tools.map(({ tool_name: name, description, input_schema: inputSchema, output_schema: outputSchema }) => ({
    name,
    description,
    inputSchema,
    outputSchema,
  })),
});

async function call(name: string, parameters: unknown, signal: AbortSignal): Promise<object> {
  appendFileSync(marksFile, `called ${name}\n`);
  const found = answers.find((one) => one.tool === name && isDeepStrictEqual(one.parameters, parameters));
  if (found === undefined) {
    // The recording ends before the answer.
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
    });
    appendFileSync(marksFile, `ended ${name}\n`);
    return { content: [] };
  }
  const { status, result, error = '' } = found.answer;
  return status === 'failure'
    ? { isError: true, content: [{ type: 'text', text: error }] }
    : { content: [], structuredContent: result };
}

servePlain({
  name: 'recorded',
  capabilities: { tools: {} },
  list,
  call: ({ name, arguments: parameters = {} }, signal) => call(String(name), parameters, signal),
});
