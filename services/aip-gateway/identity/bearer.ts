/** As long as the registry reads a credential; a static token is a fraction of that. */
export const CREDENTIAL_CHARS_MAX = 4_096;
const TOKEN = /^[\x21-\x7e]{1,512}$/u;
/** A JWT in its compact form (RFC 7515): three parts of base64url. */
const CREDENTIAL = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/u;

/** Whether what a client brings is a credential, which the registry reads whole, and not a static token. */
export const isCredential = (bearer: string): boolean =>
  bearer.length <= CREDENTIAL_CHARS_MAX && CREDENTIAL.test(bearer);

export const isToken = (bearer: string): boolean => TOKEN.test(bearer);
