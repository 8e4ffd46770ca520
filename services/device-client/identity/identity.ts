import { z } from 'zod';
import { DeviceSecret } from '#libs/keys';
import { DeviceId, Sha256 } from '#proto';

/** `identity.json`: who this device is. The key is stored before it is used for the first time, or a crash would lose the device. */
export const KeptIdentity = z.strictObject({
  version: z.literal(1),
  /** The device that the key is bound to. */
  joined: z.strictObject({ deviceId: DeviceId, secret: DeviceSecret, url: z.string(), tokenHash: Sha256 }).nullable(),
  /** A key that was perhaps bound already: asking again with the same token tells. */
  joining: z.strictObject({ secret: DeviceSecret, tokenHash: Sha256 }).nullable(),
});
export type KeptIdentity = z.infer<typeof KeptIdentity>;
export type JoinedDevice = NonNullable<KeptIdentity['joined']>;

export const NOBODY: KeptIdentity = { version: 1, joined: null, joining: null };

/** How a device comes in with what it was given and with what it keeps. */
export type WayIn =
  | { readonly kind: 'key'; readonly joined: JoinedDevice }
  /** `secret`: of the try before, with the same token. */
  | { readonly kind: 'join'; readonly secret: DeviceSecret | undefined; readonly tokenHash: string }
  | { readonly kind: 'no-token' };

/** `tokenHash`: of the join token that was given, if one was. A token that was used up already is not used again. */
export function wayIn({ joined, joining }: KeptIdentity, tokenHash: string | undefined): WayIn {
  if (joined !== null && (tokenHash === undefined || joined.tokenHash === tokenHash)) return { kind: 'key', joined };
  if (tokenHash === undefined) return { kind: 'no-token' };
  return { kind: 'join', secret: joining?.tokenHash === tokenHash ? joining.secret : undefined, tokenHash };
}
