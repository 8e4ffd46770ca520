import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider, type Adapter, type AdapterPayload, type JWK } from 'oidc-provider';

export const CLIENT_ID = 'orrery';
export const CLIENT_SECRET = 'a-secret-of-the-client-and-the-provider';

/** Of what a provider keeps of a login, in seconds. */
const KEPT_S = 3_600;

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
    const kept = new Map<string, AdapterPayload>();
    const provider = new Provider(this.issuer, {
      adapter: (kind: string) => new Kept(kind, kept),
      clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [redirectUri] }],
      cookies: { keys: ['a-key-of-the-provider'] },
      features: { devInteractions: { enabled: false } },
      pkce: { required: () => true },
      jwks: { keys: [{ ...signingKey(), use: 'sig', alg: 'RS256' }] },
      ttl: { IdToken: () => this.lifetimeS, AccessToken: KEPT_S, Grant: KEPT_S, Interaction: KEPT_S, Session: KEPT_S },
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

function signingKey(): JWK {
  return generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({ format: 'jwk' });
}

/** What the provider keeps of logins: as long as it lives. */
class Kept implements Adapter {
  readonly #kind: string;
  readonly #all: Map<string, AdapterPayload>;

  constructor(kind: string, all: Map<string, AdapterPayload>) {
    this.#kind = kind;
    this.#all = all;
  }

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    this.#all.set(this.#key(id), payload);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.#all.get(this.#key(id));
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#ofKind().find((payload) => payload.uid === uid);
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.#ofKind().find((payload) => payload.userCode === userCode);
  }

  async consume(id: string): Promise<void> {
    const payload = await this.find(id);
    if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1_000);
  }

  async destroy(id: string): Promise<void> {
    this.#all.delete(this.#key(id));
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, payload] of this.#all) if (payload.grantId === grantId) this.#all.delete(key);
  }

  #ofKind(): AdapterPayload[] {
    return [...this.#all].flatMap(([key, payload]) => (key.startsWith(`${this.#kind}:`) ? [payload] : []));
  }

  #key(id: string): string {
    return `${this.#kind}:${id}`;
  }
}
