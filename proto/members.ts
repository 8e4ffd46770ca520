import { z } from 'zod';
import { DeviceId, Instant } from './ids.js';

/** Value of MEMBERS: one replica's sign of life, its partitions, and the running tasks of its runs per device. */
export const Member = z.strictObject({
  service: z.string(),
  instance: z.string(),
  partitions: z.array(z.int().min(0)),
  running: z.record(DeviceId, z.int().min(0)),
  /** Agents with a model that this replica of the device-agent serves, e.g. `LinuxAgent`. */
  agents: z.array(z.string().max(64)).max(64).optional(),
  /** Of the planner: there is a model that it can ask. Nobody knows when absent. */
  model: z.boolean().optional(),
  at: Instant,
});
export type Member = z.infer<typeof Member>;
