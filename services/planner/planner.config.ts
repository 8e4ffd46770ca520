import { z } from 'zod';
import { envChoice, envInt } from '#libs/platform';

const ROUNDS_MAX_DEFAULT = 64;
const MCP_PORT_DEFAULT = 8_090;
const PORT_MAX = 65_535;

const switchedBy = envChoice(['on', 'off']);
const PORT_ERROR = 'must be a port from 0 to 65535, or off';
const portOrOff = z
  .string({ error: PORT_ERROR })
  .refine((text) => text === 'off' || (/^\d{1,5}$/u.test(text) && Number(text) <= PORT_MAX), { error: PORT_ERROR })
  .transform((text) => (text === 'off' ? null : Number(text)));

export const PlannerConfig = z
  .object({
    /** Rounds that this replica works on at once; what is more waits. */
    ORRERY_ROUNDS_MAX: envInt({ min: 1, max: 10_000 }).default(ROUNDS_MAX_DEFAULT),
    /** Where the prompts lie; those of the installation when absent. */
    ORRERY_PROMPTS_DIR: z.string().optional(),
    /** Runbooks of the operator; one with the name of a shipped one stands in its place. */
    ORRERY_RUNBOOKS_DIR: z.string().optional(),
    /** Whether what models are asked is kept whole, in ARTIFACTS. */
    ORRERY_KEEP_PROMPTS: switchedBy.default('on'),
    /** Whether every run of a goal is judged when it has ended; a run may ask for it by itself. */
    ORRERY_EVALUATION: switchedBy.default('off'),
    /** Whether examples of earlier runs are kept, in Postgres, and shown to the model. */
    ORRERY_EXPERIENCE: switchedBy.default('off'),
    /** Where the Constellation MCP server listens: 0 is any free port, `off` nowhere. */
    ORRERY_MCP_PORT: portOrOff.default(MCP_PORT_DEFAULT),
    /** Names by which MCP hosts reach this server besides its address, separated by commas. */
    ORRERY_MCP_HOSTS: z.string().optional(),
  })
  .transform((env) => ({
    roundsMax: env.ORRERY_ROUNDS_MAX,
    promptsDirectory: env.ORRERY_PROMPTS_DIR,
    runbooksDirectory: env.ORRERY_RUNBOOKS_DIR,
    keepPrompts: env.ORRERY_KEEP_PROMPTS === 'on',
    evaluation: env.ORRERY_EVALUATION === 'on',
    experience: env.ORRERY_EXPERIENCE === 'on',
    /** Null: there is none. */
    mcpPort: env.ORRERY_MCP_PORT,
    mcpHosts: (env.ORRERY_MCP_HOSTS ?? '').split(',').flatMap((host) => (host.trim() === '' ? [] : [host.trim()])),
  }));
export type PlannerConfig = z.infer<typeof PlannerConfig>;
