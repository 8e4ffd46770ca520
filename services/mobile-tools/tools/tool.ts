import { z } from 'zod';
import type { HostedTool } from '#libs/mcp';
import { ON_META, SeenOn } from '#proto';
import type { PhoneDesk } from './desk.runner.js';
import type { Phone } from '../phone/index.js';
import type { Turns } from './turns.js';

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
export const seenBy = (meta: Readonly<Record<string, unknown>>): SeenOn | undefined =>
  meta[ON_META] === undefined ? undefined : SeenOn.parse(meta[ON_META]);

/** Keeps the types of a tool while tools of all types stand in one list. */
export const phoneTool = <I extends z.ZodObject, O extends z.ZodObject>(tool: HostedTool<I, O>): HostedTool => tool;
