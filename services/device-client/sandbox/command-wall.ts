import { z } from 'zod';

/** What of a machine a command has to see for its answer to be true; the policy says it of each line. */
export const WALL_VIEWS = ['host-processes', 'host-network', 'loopback', 'privileged-read'] as const;

/** How much of the machine a command is given, as the policy judged it; `none`: somebody let it through as it is. */
export const CommandWall = z.strictObject({
  kind: z.enum(['read', 'write', 'none']),
  views: z.array(z.enum(WALL_VIEWS)).readonly(),
});
export type CommandWall = z.infer<typeof CommandWall>;

export type WallView = CommandWall['views'][number];

/** Said beside the arguments of a call. */
export const WALL_META = 'orrery/wall';
