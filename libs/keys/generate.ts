import { createHash, randomBytes } from 'node:crypto';

const PASSWORD_BYTES = 24;
const ADMIN_TOKEN_BYTES = 32;
const ADMIN_TOKEN_PREFIX = 'ora_';
const TOKEN_BYTES = 32;
const JOIN_TOKEN_BYTES = 16;
const JOIN_TOKEN_PREFIX = 'join-';

/** Letters, digits, `-` and `_`: safe in a URL and in nats.conf. */
export function newPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('base64url');
}

export function newAdminToken(): string {
  return `${ADMIN_TOKEN_PREFIX}${randomBytes(ADMIN_TOKEN_BYTES).toString('base64url')}`;
}

/** A static token, for clients that can keep no key. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** 128 bit: used once, within minutes. A reader sees what it is. */
export function newJoinToken(): string {
  return `${JOIN_TOKEN_PREFIX}${randomBytes(JOIN_TOKEN_BYTES).toString('base64url')}`;
}

/** What is kept of a token: enough to recognise it. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
