import { z } from 'zod';
import { LIMITS, DEFAULTS } from '#proto';
import { envChoice, envInt } from '#libs/platform';

const ATTEMPTS_MAX_DEFAULT = 1_000;

export const DeviceAgentConfig = z
  .object({
    /** Attempts that this replica carries out at once; more are left to the other replicas. Who waits for a person does not count. */
    ORRERY_ATTEMPTS_MAX: envInt({ min: 1, max: 100_000 }).default(ATTEMPTS_MAX_DEFAULT),
    /** Turns of an agent's model in one attempt. */
    ORRERY_STEPS_MAX: envInt({ min: 1, max: LIMITS.stepsMax }).default(DEFAULTS.stepsMax),
    /** Bytes that one command may take of its predecessors; more ends the task before it begins. */
    ORRERY_INPUT_BYTES_MAX: envInt({ min: 1, max: LIMITS.inputBytesMax }).default(LIMITS.inputBytesMax),
    /** The command policy, YAML; the built-in one alone when absent. */
    ORRERY_POLICY_FILE: z.string().optional(),
    /** Where the prompts lie; those of the installation when absent. */
    ORRERY_PROMPTS_DIR: z.string().optional(),
    /** Modules with further kinds of agents, separated by commas. */
    ORRERY_AGENT_MODULES: z.string().optional(),
    /** Whether what models are asked is kept whole, in ARTIFACTS. */
    ORRERY_KEEP_PROMPTS: envChoice(['on', 'off']).default('on'),
  })
  .transform((env) => ({
    attemptsMax: env.ORRERY_ATTEMPTS_MAX,
    stepsMax: env.ORRERY_STEPS_MAX,
    inputBytesMax: env.ORRERY_INPUT_BYTES_MAX,
    policyFile: env.ORRERY_POLICY_FILE,
    promptsDirectory: env.ORRERY_PROMPTS_DIR,
    agentModules: (env.ORRERY_AGENT_MODULES ?? '')
      .split(',')
      .flatMap((file) => (file.trim() === '' ? [] : [file.trim()])),
    keepPrompts: env.ORRERY_KEEP_PROMPTS === 'on',
  }));
export type DeviceAgentConfig = z.infer<typeof DeviceAgentConfig>;
