import { z } from 'zod';
import { AuthorityPem, enrollBlock, GatewayUrl, InstallDir, isOpen, joinCommand } from '#libs/device-offer';
import type { QueryAnswer } from '#libs/messaging';
import { QUERIES, type DeviceOffer } from '#proto';

const { credential: _credential, ...enrolled } = QUERIES.registry.enroll.request.shape;

/** What is said of a machine that is to become a device, and of the way from there to here. */
export const EnrolmentWord = z.strictObject({
  ...enrolled,
  /** Of the gateway, as the device reaches it; when absent, as somebody has said it for all. */
  url: GatewayUrl.optional(),
  ca: AuthorityPem.optional(),
  dir: InstallDir.optional(),
});
export type EnrolmentWord = z.infer<typeof EnrolmentWord>;

/** The token is in this answer only, once. */
export const PastedEnrolment = z.strictObject({
  ...QUERIES.registry.enroll.answer.shape,
  url: z.string(),
  /** For a machine that has the client. */
  command: z.string(),
  /** For any machine: brings the client along. Null where this installation has no archive of it. */
  block: z.string().nullable(),
  /** Others than this machine can read what is said on that way. */
  isOpen: z.boolean(),
});
export type PastedEnrolment = z.infer<typeof PastedEnrolment>;

/** What machines are offered here. */
export const EnrolmentOffer = z.strictObject({
  /** Where devices reach the gateway; null: nobody has said so. */
  url: z.string().nullable(),
  /** Of the client; null where there is no archive of it. */
  release: z.string().nullable(),
});
export type EnrolmentOffer = z.infer<typeof EnrolmentOffer>;

/** The lines that make a device of a machine, as `orrery devices enroll` prints them. */
export function enrolmentOf(
  enrolled: QueryAnswer<'registry', 'enroll'>,
  { url, offer, ca, dir }: { url: string; offer: DeviceOffer | undefined } & Pick<EnrolmentWord, 'ca' | 'dir'>,
): PastedEnrolment {
  const { token } = enrolled;
  const block = offer === undefined ? null : enrollBlock({ url, token, offer, ca, dir });
  return { ...enrolled, url, command: joinCommand({ url, token }), block, isOpen: isOpen(url) };
}
