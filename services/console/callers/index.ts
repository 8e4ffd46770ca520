/** Who comes in, and by what: tokens, logins, sessions. What they may do is in the table of roles; who decides is behind the bus. */
export * from './caller.js';
export * from './logins.client.js';
export { csrfTokenOf, isSessionId, sessionName, type BrowserSession } from './session.js';
export * from './sessions.adapter.js';
export * from './token-uses.client.js';
