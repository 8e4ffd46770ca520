import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AuthorizingProxy {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * The public suite has no word for a token, so it comes in here: every request goes on as it is, with the token. The Host of a
 * request that means this proxy becomes that of the target, as it would be without it; any other one stays.
 */
export async function startAuthorizingProxy(target: URL, token: string): Promise<AuthorizingProxy> {
  const server = createServer((incoming, response) => pass(incoming, response));
  const pass = (incoming: IncomingMessage, response: ServerResponse): void => {
    const own = String((server.address() as AddressInfo).port);
    const place = (text: string | undefined): string | undefined => text?.replace(`:${own}`, `:${target.port}`);
    const { host, origin } = incoming.headers;
    const headers = {
      ...incoming.headers,
      authorization: `Bearer ${token}`,
      ...(host === undefined ? {} : { host: place(host) }),
      ...(origin === undefined ? {} : { origin: place(origin) }),
    };
    const onward = request(target, { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => void response.writeHead(502).end());
    incoming.pipe(onward);
  };
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${target.pathname}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
