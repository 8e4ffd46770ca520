import { z } from 'zod';

/** What a command does at the worst, in rising order. */
export const CommandClass = z.enum(['read', 'write', 'network', 'destructive', 'privileged']);
export type CommandClass = z.infer<typeof CommandClass>;

/** `allow`: it runs. `log`: it runs and is pointed out. `approve`: a person is asked first. `deny`: it never runs. */
export const PolicyDecision = z.enum(['allow', 'log', 'approve', 'deny']);
export type PolicyDecision = z.infer<typeof PolicyDecision>;

/** What the command policy says about one command. Depends on the command, the device and the policy, never on any output. */
export const PolicyVerdict = z.strictObject({
  class: CommandClass,
  decision: PolicyDecision,
  /** Id of the rule that decided, e.g. `floor.disk`, `program.rm`, `unknown-program`. */
  rule: z.string().min(1).max(128),
  /** For people, the decisive one first. */
  reasons: z.array(z.string().max(500)).max(20),
  /** May be allowed for a while by one approval; never for interpreters, sudo, xargs and their like. */
  grantable: z.boolean(),
});
export type PolicyVerdict = z.infer<typeof PolicyVerdict>;

/** How approvals are asked for in a run: as the policy says; for every command of an agent; never, what would ask is denied. */
export const ApprovalMode = z.enum(['policy', 'always', 'never']);
export type ApprovalMode = z.infer<typeof ApprovalMode>;

/** Which exact commands of a run are judged: `models`: those that a model may have written; `all`: those of requests, runbooks and people, too. */
export const JudgedCommands = z.enum(['models', 'all']);
export type JudgedCommands = z.infer<typeof JudgedCommands>;
