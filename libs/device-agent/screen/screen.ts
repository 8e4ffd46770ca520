import type { Json, ScreenPlace } from '#proto';
import type { CalledImage, ToolCalled } from '#libs/attempt';
import type { RoundValues } from '../strategies/index.js';
import type { AgentReply } from '../effects/index.js';
import type { SeenListing } from './listing.js';

export const HOST_AGENT = 'HostAgent';
export const APP_AGENT = 'AppAgent';
export const ASSIGN = 'ASSIGN';
export const PENDING = 'PENDING';
export const CONFIRM = 'CONFIRM';
export const SCREENSHOT = 'SCREENSHOT';

/** The window that is worked in. */
export type ChosenWindow = Pick<ScreenPlace, 'application' | 'window' | 'runDirectory'>;

/** A picture that an agent has kept for all of the attempt, and why. */
export interface KeptPicture {
  readonly image: CalledImage;
  readonly reason: string;
}

/** What the two agents of a screen share besides task and blackboard. */
export interface Screen {
  chosen: ChosenWindow;
  assigned: { readonly subtask: string; readonly tips: readonly string[] };
  kept: readonly KeptPicture[];
  /** The page of a browser as it was read last; what acts on it names its controls. */
  page: SeenListing;
  /** The window as it was when its agent decided last. */
  before: readonly CalledImage[];
}

/** Values of a round on a screen. */
export interface ScreenValues<R extends AgentReply> extends RoundValues<R> {
  /** What was listed by this look. */
  listing: SeenListing;
  /** The picture of this look, without marks. */
  picture: readonly CalledImage[];
}

/** What a tool answered; null where it gave nothing. */
export const answeredValue = (ended: ToolCalled['ended']): Json =>
  ended.kind === 'finished' ? (ended.result?.value ?? null) : null;

/** Why a call gave nothing, with the code that the device or the policy gave; null when it ended well. */
export function failureText(ended: ToolCalled['ended']): string | null {
  if (ended.kind === 'refused') return `${ended.code}: ${ended.message}`;
  if (ended.state === 'COMPLETED') return null;
  return ended.message === null || ended.message === '' ? ended.state : ended.message;
}
