/** Services that say what they work by. */
export const SETTLED = ['device-agent', 'planner'] as const;
export type SettledService = (typeof SETTLED)[number];
