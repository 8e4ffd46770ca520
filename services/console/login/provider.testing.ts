import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export const CLIENT_ID = 'orrery';
export const CLIENT_SECRET = 'a-secret-of-the-client-and-the-provider';

/** An identity provider on this machine: whoever `who` names logs in, without being asked. */
export class TestProvider {
  /** The subject of who sits before the browser. */
  who = 'anna-1';
  /** Of ID tokens, in seconds. */
  lifetimeS = 3_600;
  readonly issuer: string;
  readonly #server: Server;

  private constructor(server: Server, redirectUri: string) {
    this.#server = server;
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const provider = new Provider(this.issuer, {
      clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [redirectUri] }],
      cookies: { keys: ['a-key-of-the-provider'] },
      features: { devInteractions: { enabled: false } },
      pkce: { required: () => true },
      ttl: { IdToken: () => this.lifetimeS },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
      loadExistingGrant: async ({
        oidc: {
          client,
          session,
          provider: { Grant },
        },
      }) => {
        const grant = new Grant({ clientId: client?.clientId, accountId: session?.accountId });
        grant.addOIDCScope('openid');
        await grant.save();
        return grant;
      },
    });
    const answer = provider.callback();
    server.on('request', (request, response) => {
      if (request.url?.startsWith('/interaction/') !== true) return void answer(request, response);
      return void provider.interactionFinished(request, response, { login: { accountId: this.who, remember: false } });
    });
  }

  static async start(redirectUri: string): Promise<TestProvider> {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((listening) => server.once('listening', listening));
    return new TestProvider(server, redirectUri);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
