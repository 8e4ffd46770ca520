import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  clockTolerance,
  type Configuration,
  discovery,
  None,
} from 'openid-client';
import type { Login } from '#proto';
import type { LoginAttempt } from './login-attempt.js';

/** How far the clock of the provider may lie from ours, in seconds. */
const CLOCK_TOLERANCE_S = 30;
const ANSWER_S_MAX = 10;

export interface OidcConfig {
  readonly issuer: URL;
  readonly clientId: string;
  /** Undefined: a public client, which PKCE alone protects. */
  readonly clientSecret: string | undefined;
  /** Where the provider sends browsers back to. */
  readonly redirectUri: string;
}

/** The identity provider of an installation, asked with the authorization code flow and PKCE (OpenID Connect Core 1.0, 3.1; RFC 7636). */
export class OidcProvider {
  readonly #config: OidcConfig;
  #discovered: Promise<Configuration> | undefined;

  constructor(config: OidcConfig) {
    this.#config = config;
  }

  /** For people: who is asked. */
  get name(): string {
    return this.#config.issuer.host;
  }

  /** Where a browser has to go. Throws while the provider cannot be reached. */
  async urlFor({ state, nonce, challenge }: LoginAttempt): Promise<URL> {
    return buildAuthorizationUrl(await this.#provider(), {
      redirect_uri: this.#config.redirectUri,
      scope: 'openid',
      state,
      nonce,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
  }

  /** Who has logged in, by the query that the browser has brought back. Throws when anything of it does not fit the attempt. */
  async loginOf(query: string, { state, nonce, verifier }: LoginAttempt): Promise<Login> {
    const url = new URL(this.#config.redirectUri);
    url.search = query;
    const tokens = await authorizationCodeGrant(await this.#provider(), url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('the provider gave no ID token');
    return { issuer: claims.iss, subject: claims.sub };
  }

  /** Its document is read once; one that could not be read is asked for again by the next who logs in. */
  #provider(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#config;
    this.#discovered ??= discovery(
      issuer,
      clientId,
      { [clockTolerance]: CLOCK_TOLERANCE_S },
      clientSecret === undefined ? None() : ClientSecretBasic(clientSecret),
      // Plain http is for a provider on this machine only: the configuration sees to that.
      { timeout: ANSWER_S_MAX, execute: issuer.protocol === 'http:' ? [allowInsecureRequests] : [] },
    ).catch((error: unknown) => {
      this.#discovered = undefined;
      throw error;
    });
    return this.#discovered;
  }
}
