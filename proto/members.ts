import { z } from 'zod';
import { DeviceId, Instant } from './ids.js';

/** Value of MEMBERS: one replica's sign of life, its partitions, and the running tasks of its runs per device. */
export const Member = z.strictObject({
  service: z.string(),
  instance: z.string(),
  partitions: z.array(z.int().min(0)),
  running: z.record(DeviceId, z.int().min(0)),
  at: Instant,
});
export type Member = z.infer<typeof Member>;
