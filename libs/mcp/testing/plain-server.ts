// MCP over standard input and output as a tool server speaks it that has no library: for tests that start many of them, or have no time to
// wait for one. Run by node as it is: types are stripped, nothing else.
import { createInterface } from 'node:readline';

interface Request {
  readonly id?: string | number;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

type Params = NonNullable<Request['params']>;

export interface PlainServer {
  readonly name: string;
  readonly capabilities: object;
  /** Answers `tools/list`. */
  readonly list: (params: Params) => object;
  /** Answers `tools/call`; what it throws is a protocol error. Aborted when the client has cancelled it. */
  readonly call: (params: Params, signal: AbortSignal) => object | Promise<object>;
}

/** Serves until standard input ends. Resolves to how a notification is sent. */
export function servePlain({ name, capabilities, list, call }: PlainServer): (method: string, params?: object) => void {
  const say = (message: object): void =>
    void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const calls = new Map<unknown, AbortController>();
  const answer = async ({ id, method, params = {} }: Request): Promise<object> => {
    if (method === 'initialize') {
      return { protocolVersion: params['protocolVersion'], capabilities, serverInfo: { name, version: '1' } };
    }
    if (method === 'ping') return {};
    if (method === 'tools/list') return list(params);
    if (method !== 'tools/call') throw new Error(`no method ${method}`);
    const cancelled = new AbortController();
    calls.set(id, cancelled);
    return call(params, cancelled.signal);
  };
  const serve = async (request: Request): Promise<void> => {
    if (request.method === 'notifications/cancelled') calls.get(request.params?.['requestId'])?.abort();
    const { id } = request;
    if (id === undefined) return;
    const said = await answer(request).then(
      (result) => ({ result }),
      (error: unknown) => ({
        error: { code: -32_603, message: error instanceof Error ? error.message : String(error) },
      }),
    );
    if (calls.get(id)?.signal.aborted !== true) say({ id, ...said });
    calls.delete(id);
  };
  createInterface(process.stdin).on('line', (line) => void serve(JSON.parse(line) as Request));
  return (method, params) => say({ method, params });
}
