import type { CommandCall, DeviceId, PolicyVerdict } from '#proto';
import type { Wall } from './wall.js';

/** Whom a command would run for. */
export interface JudgedDevice {
  readonly deviceId: DeviceId;
  readonly os: string;
  readonly tags: readonly string[];
}

/**
 * The command policy: pure, the same answer for the same question, and below a millisecond. What it cannot understand it does
 * not let through.
 */
export interface CommandPolicy {
  /** SHA-256 of the policy's canonical JSON. */
  readonly hash: string;
  judge(command: CommandCall, device: JudgedDevice | undefined): PolicyVerdict;
  /** What the kernel has to hold it to where it runs, and what it must let it see. */
  wall(command: CommandCall, device: JudgedDevice | undefined): Wall;
}
