const SECRET_BYTES = 32;
/** A reader sees what it is. */
const PREFIX = 'ort_';

export interface MadeToken {
  readonly tokenId: string;
  readonly secret: string;
  /** What is kept of it elsewhere. */
  readonly tokenHash: string;
}

/** A token whose secret nobody else has seen. */
export async function madeToken(): Promise<MadeToken> {
  const random = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const text = btoa(String.fromCharCode(...random));
  const secret = `${PREFIX}${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret)));
  const tokenHash = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { tokenId: crypto.randomUUID(), secret, tokenHash };
}
