import { z } from 'zod';
import { SecretName } from './secret-ref.js';

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
  /** Secrets of the device, by name, that may be put into password fields of this program; without it none. */
  secrets: z.array(SecretName).max(64).optional(),
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

/** What shows a display to those who look on: a server of VNC, which lets in who knows the password in this file. */
const ScreenView = z.strictObject({
  /** An address, or a name of this machine: it is listened to there, and nowhere else. */
  host: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535),
  passwordFile: AbsolutePath,
});

/** A desktop of its own: which display is started, where what belongs to it lies, and who may look on. */
export const ScreenSettings = z.strictObject({
  /** For its bus, its keys and the home of its programs; nobody else may look into it. */
  directory: AbsolutePath,
  /** Any free one without it. */
  display: z
    .string()
    .regex(/^:\d{1,5}$/, DISPLAY)
    .optional(),
  size: z
    .string()
    .regex(/^\d{3,4}x\d{3,4}$/, 'must be a width and a height, such as "1280x800"')
    .default('1280x800'),
  /** The program that is the display. */
  server: z.enum(['Xtigervnc', 'Xvnc', 'Xvfb']),
  view: ScreenView.optional(),
});
export type ScreenSettings = z.infer<typeof ScreenSettings>;

/** Tool answers of MCP carry what a command was judged on under this name in `_meta`: what its agent saw. */
export const ON_META = 'orrery/on';

/** The value of a secret travels under this name beside the call that names it, from the device client to the tools of its desktop and no further. */
export const SECRET_META = 'orrery/secret';

/** The attempt that a call is of travels under this name beside it, to the tools of a screen: whose work it is they know by that. */
export const ATTEMPT_META = 'orrery/attempt';

/** The directory of the run that a call is of travels under this name to the tools of a screen, where its commands have one. */
export const RUN_DIRECTORY_META = 'orrery/run-directory';

/** What an agent saw when it chose what to do: the device does it there, and nowhere else. */
export const SeenOn = z.object({
  application: z.string().max(256),
  window: z.string().max(1_024),
  control: z.object({ id: z.string().max(32), type: z.string().max(64), name: z.string().max(1_024) }).optional(),
  /** The listing that the agent read. */
  snapshot: z.string().max(64),
  /** Where the listing of a dialog for files says that the directory of the run lies. */
  runDirectory: z.string().max(4_096).optional(),
});
export type SeenOn = z.infer<typeof SeenOn>;
