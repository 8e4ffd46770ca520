import { z } from 'zod';

/** One message of `orrery.dlq.<service>`: what came, where from, and why it could not be handled. */
export const DeadLetter = z.strictObject({
  service: z.string(),
  stream: z.string().nullable(),
  /** Position of the original in its stream: `dlq retry` hands it to its service again by this. */
  sequence: z.int().min(1).nullable(),
  durable: z.string().nullable(),
  subject: z.string(),
  headers: z.record(z.string(), z.array(z.string())),
  payloadBase64: z.string(),
  reason: z.string(),
  deliveries: z.int().min(1),
  at: z.iso.datetime(),
});
export type DeadLetter = z.infer<typeof DeadLetter>;
