/** Logging in and out: pages for people, the identity provider, and who one is. */
export { LoginController, Providers } from './login.controller.js';
export * from './me.controller.js';
export { OidcProvider, type OidcConfig } from './oidc.client.js';
