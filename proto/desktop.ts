import { z } from 'zod';

const AbsolutePath = z
  .string()
  .max(4_096)
  .regex(/^\/[^\0]*$/, 'must be an absolute path');

/** A program whose windows may be used on a desktop. */
export const DesktopApplication = z.strictObject({
  /** What starts it; without one it is not started, only used where it runs. */
  command: AbsolutePath.optional(),
  /** What it is always started with. */
  args: z.array(z.string().max(4_096)).max(64).default([]),
  /** Directories of the files that it may be started with, beside `args`. */
  files: z.array(AbsolutePath).max(64).default([]),
});
export type DesktopApplication = z.infer<typeof DesktopApplication>;

const DISPLAY = 'must be the name of a display of this machine, such as ":7"';

/** A desktop that agents may use: nothing of it has a default, so that nobody's own screen is used because nobody said otherwise. */
export const DesktopSettings = z.strictObject({
  /** The display of X11. */
  display: z.string().regex(/^:\d{1,5}(?:\.\d{1,2})?$/, DISPLAY),
  /** The address of the session bus that its programs have, by which their controls are found. */
  bus: z
    .string()
    .max(1_024)
    .regex(/^unix:/, 'must be the address of a bus of this machine, such as "unix:path=/run/user/1001/bus"'),
  /** The file with the key of the display, where it needs one. */
  authority: AbsolutePath.optional(),
  /** By the last part of the path of their program: what is not here is looked at, and not used. */
  applications: z
    .record(
      z.string().regex(/^[^/\0]{1,64}$/, 'must be the name of a program, without its directory'),
      DesktopApplication,
    )
    .default({}),
});
export type DesktopSettings = z.infer<typeof DesktopSettings>;

/** Tool answers of MCP carry what a command was judged on under this name in `_meta`: what its agent saw. */
export const ON_META = 'orrery/on';

/** What an agent saw when it chose what to do: the device does it there, and nowhere else. */
export const SeenOn = z.object({
  application: z.string().max(256),
  window: z.string().max(1_024),
  control: z.object({ id: z.string().max(32), type: z.string().max(64), name: z.string().max(1_024) }).optional(),
  /** The listing that the agent read. */
  snapshot: z.string().max(64),
});
export type SeenOn = z.infer<typeof SeenOn>;
