import { imagesOf, type CalledImage, type ToolCalled } from '#libs/attempt';
import { fieldsOf, type ArtifactRef, type ContentPart, type Json } from '#proto';
import type { AgentTask, ShownPlace } from '../effects/index.js';

/** Left, top, right and bottom, in points of the screen. */
export type SeenRect = ShownPlace['box'];

/** A picture that was taken of a window, and where on the screen that is. */
export interface SeenPicture {
  readonly ref: ArtifactRef;
  readonly rect: SeenRect;
  readonly width: number;
  readonly height: number;
}

/** A place as devices tell it; undefined when it is none. */
export function rectIn(value: Json | undefined): SeenRect | undefined {
  if (!Array.isArray(value) || value.length !== 4) return undefined;
  const [left, top, right, bottom] = value.map((side) => (Number.isSafeInteger(side) ? (side as number) : NaN));
  if (left === undefined || top === undefined || right === undefined || bottom === undefined) return undefined;
  return right > left && bottom > top ? [left, top, right, bottom] : undefined;
}

/** The first picture of an answer. Devices that do not say of which place it is have said it of the window, as `otherwise`. */
export function seenPictureOf(ended: ToolCalled['ended'], otherwise: SeenRect | undefined): SeenPicture | undefined {
  const [image] = imagesOf(ended);
  const value = ended.kind === 'finished' ? (ended.result?.value ?? null) : null;
  const { pictures } = fieldsOf(value);
  const { rect, width, height } = fieldsOf(Array.isArray(pictures) ? (pictures[0] ?? null) : null);
  const taken = rectIn(rect) ?? otherwise;
  if (image === undefined || taken === undefined || !isSize(width) || !isSize(height)) return undefined;
  return { ref: image.ref, rect: taken, width, height };
}

const isSize = (value: Json | undefined): value is number => Number.isSafeInteger(value) && (value as number) > 0;

/** What a person is shown of a place on the screen; undefined where the picture does not show it. */
export function shownPlace(picture: SeenPicture | undefined, place: SeenRect | undefined): ShownPlace | undefined {
  if (picture === undefined || place === undefined) return undefined;
  const { ref, rect: whole, width, height } = picture;
  // A screen that is scaled has fewer places than its picture has points, or more.
  const [across, down] = [width / (whole[2] - whole[0]), height / (whole[3] - whole[1])];
  const box: SeenRect = [
    Math.max(0, Math.floor((place[0] - whole[0]) * across)),
    Math.max(0, Math.floor((place[1] - whole[1]) * down)),
    Math.min(width, Math.ceil((place[2] - whole[0]) * across)),
    Math.min(height, Math.ceil((place[3] - whole[1]) * down)),
  ];
  return box[2] > box[0] && box[3] > box[1] ? { picture: ref, box } : undefined;
}

/** Devices that draw the ids of their controls on a picture say so in the schema of the tool. */
export const drawsMarks = ({ device }: Pick<AgentTask, 'device'>, tool: string): boolean =>
  'annotated' in fieldsOf(device.tools.find(({ name }) => name === tool)?.inputSchema?.['properties']);

export const textPart = (text: string): ContentPart => ({ type: 'text', text });

/** Pictures as a model is shown them, with what they are; nothing where there is none. */
export const pictureParts = (words: string, images: readonly CalledImage[]): ContentPart[] =>
  images.length === 0
    ? []
    : [textPart(words), ...images.map(({ ref, mediaType }): ContentPart => ({ type: 'image', ref, mediaType }))];
