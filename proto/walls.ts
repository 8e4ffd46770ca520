import { z } from 'zod';
import { sameJson } from './same-json.js';

/**
 * What of a machine a command has to see for its answer to be true; the policy says it of each line. `owners`: whose files and
 * processes are; `whole-machine`: what is seen without a wall only, as its mounts are, and what programs hold open.
 */
export const WALL_VIEWS = [
  'host-processes',
  'host-network',
  'loopback',
  'privileged-read',
  'owners',
  'host-tmp',
  'host-devices',
  'whole-machine',
] as const;
export type WallView = (typeof WALL_VIEWS)[number];

const WRITABLE_MAX = 64;

/**
 * How much of the machine a command is given: `read` writes nothing, `write` writes where commands work, `none` is held to nothing.
 * The kernel of the device enforces it.
 */
export const CommandWall = z.strictObject({
  kind: z.enum(['read', 'write', 'none']),
  views: z.array(z.enum(WALL_VIEWS)).readonly(),
  /** The network of the machine, to speak in it. */
  internet: z.literal(true).optional(),
  /**
   * Directories, or files that are there, that may be written to as well, by this command alone. What is hidden in or above one stays
   * hidden, places that are private behind a wall (`/tmp`, `/dev`, `/proc`, `/sys`) stay private, and `/` is none.
   */
  writable: z
    .array(
      z
        .string()
        .max(4_096)
        .regex(/^\/[^\0]*$/, 'must be an absolute path'),
    )
    .max(WRITABLE_MAX)
    .readonly()
    .optional(),
});
export type CommandWall = z.infer<typeof CommandWall>;

/** What a command that a person is asked about would get. */
export const AskedWall = z.strictObject({
  ...CommandWall.shape,
  /** Why it is not narrower, for people. */
  reason: z.string().max(500).optional(),
  /** The line only asks well-known programs how the machine is: what no wall can show it truly, it is told without one. */
  onlyTells: z.literal(true).optional(),
  /** Whose its processes are, as the device says it; absent where it does not. */
  runsAs: z.string().max(64).optional(),
});
export type AskedWall = z.infer<typeof AskedWall>;

/** The code of a command that ran into the wall around it: it was not what the policy understood, which is a security event. */
export const POLICY_MISMATCH = 'POLICY_MISMATCH';

/** What a command is given where nothing holds it. */
export const UNHELD: CommandWall = { kind: 'none', views: [] };

const KINDS = CommandWall.shape.kind.options;
/** What the network of a machine shows by itself. */
const OF_THE_NETWORK: readonly WallView[] = ['host-network', 'loopback'];

/** Whether a wall shows this. */
export const isShown = (view: WallView, { kind, views, internet }: CommandWall): boolean =>
  kind === 'none' || views.includes(view) || (internet === true && OF_THE_NETWORK.includes(view));

/** Whether a command behind the one can do and see nothing that it could not behind the other. */
export function isWallWithin(one: CommandWall, other: CommandWall): boolean {
  if (other.kind === 'none') return true;
  const kinds = KINDS.indexOf(one.kind) <= KINDS.indexOf(other.kind);
  const network = one.internet !== true || other.internet === true;
  const views = one.views.every((view) => isShown(view, other));
  return kinds && network && views && writableIn(one).every((path) => lies(path, writableIn(other)));
}

/** The widest wall that is within both. */
export function narrowerWall(one: CommandWall, other: CommandWall): CommandWall {
  if (isWallWithin(one, other)) return wallOnly(one);
  if (isWallWithin(other, one)) return wallOnly(other);
  const [a, b] = [writableIn(one), writableIn(other)];
  const writable = [...new Set([...a.filter((path) => lies(path, b)), ...b.filter((path) => lies(path, a))])];
  return {
    kind: KINDS.indexOf(one.kind) < KINDS.indexOf(other.kind) ? one.kind : other.kind,
    views: WALL_VIEWS.filter((view) => isShown(view, one) && isShown(view, other)),
    ...(one.internet === true && other.internet === true && { internet: true }),
    ...(writable.length > 0 && { writable }),
  };
}

/** Without what is said of it. */
export function wallOnly({ kind, views, internet, writable }: CommandWall): CommandWall {
  return { kind, views, ...(internet === true && { internet }), ...(writable !== undefined && { writable }) };
}

export const isSameWall = (one: CommandWall, other: CommandWall): boolean => sameJson(wallOnly(one), wallOnly(other));

/** A place that a wall of kind `read` lets write is written to all the same. */
const writableIn = ({ writable = [] }: CommandWall): readonly string[] => writable;

/** At one of the places, or below it. */
function lies(path: string, places: readonly string[]): boolean {
  return (
    !path.split('/').includes('..') &&
    places.some((place) => `${path}/`.startsWith(place.endsWith('/') ? place : `${place}/`))
  );
}

/**
 * What a command gets of a wall on a device that can show these views behind it. What it cannot show truly comes with the network of the
 * machine where that is enough, or without a wall.
 */
export function wallOn(wall: AskedWall, shown: readonly WallView[]): AskedWall {
  const missing = missingBehind(wall, shown);
  if (missing.length === 0) return wall;
  const reason = `the wall of this device cannot show it what it needs for a true answer (${missing.join(', ')})`;
  const wider = { ...wall, internet: true as const, reason };
  return missingBehind(wider, shown).length === 0 ? wider : { kind: 'none', views: wall.views, reason };
}

/** What a command has to see, and a wall that can show these views does not show it. */
export const missingBehind = (wall: CommandWall, shown: readonly WallView[]): WallView[] =>
  wall.views.filter((view) => !isShown(view, { ...wall, views: shown }));
