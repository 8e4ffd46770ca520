import { z } from 'zod';
import type { HostedTool } from '#libs/mcp';
import type { PhoneDesk } from './desk.runner.js';
import type { Phone } from '../phone/index.js';
import type { Turns } from './turns.js';

/** Under this name in `_meta`: what the agent saw, as its device client was told. */
const SEEN_META = 'orrery/on';

const SeenScreen = z.object({
  application: z.string().max(256),
  control: z.object({ id: z.string().max(32), type: z.string().max(256), name: z.string().max(1_024) }).optional(),
  snapshot: z.string().max(64),
});

/** What the tools have to do with. */
export interface PhoneSetting {
  readonly phone: Phone;
  readonly desk: PhoneDesk;
  readonly turns: Turns;
  /** Packages that agents are meant to use. */
  readonly applications: ReadonlySet<string>;
}

/** A tool whose answer says what was done. */
export const PhoneSaid = z.object({ result: z.string() });

/** Undefined: its caller says nothing of it, as foreign servers do. */
export const seenBy = (meta: Readonly<Record<string, unknown>>): z.infer<typeof SeenScreen> | undefined =>
  meta[SEEN_META] === undefined ? undefined : SeenScreen.parse(meta[SEEN_META]);

/** Keeps the types of a tool while tools of all types stand in one list. */
export const phoneTool = <I extends z.ZodObject, O extends z.ZodObject>(tool: HostedTool<I, O>): HostedTool => tool;
