import { z } from 'zod';

/** Where a gateway has it, below its own address: `device/offer.json`. */
export const OFFER_FILE = 'offer.json';

/** A file beside the offer. Its name has nothing of a path in it, and is another one when its content is. */
const OfferedFile = z.strictObject({
  file: z.string().regex(/^[a-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){1,8}$/),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().min(1),
});

/** What a system gives machines that are to become its devices: written by tools/device-archive.mjs, given out by gateways. */
export const DeviceOffer = z.strictObject({
  /** Version and digest of the client, as a device that runs it says (`AgentProfile.client`). */
  release: z.string().regex(/^[\w.-]{1,64}$/),
  /** Fetches the archive of its platform, compares it with the SHA-256 that stands in it, and installs it. */
  script: OfferedFile,
  /** By platform, `linux-x64`. */
  archives: z.record(z.string().max(32), OfferedFile),
});
export type DeviceOffer = z.infer<typeof DeviceOffer>;
