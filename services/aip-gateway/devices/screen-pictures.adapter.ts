import type { Logger } from 'pino';
import { pngOfRun } from '#libs/picture';
import type { ArtifactRef, CommandOutcome, RunId } from '#proto';

/*
 * Clients of Windows machines answer a look with a picture as a `data:` URL. No event and no message of the bus could hold one: it
 * is kept as an artifact, as pictures of tools of ours are, and the answer names it.
 */

const PICTURE = /^data:image\/png;base64,([A-Za-z0-9+/]+={0,2})$/u;
/** Signature, length and name of the first chunk; then width and height. */
const HEADER = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const SIZE_AT = 16;
/** What a client gives when there is nothing to be seen. */
const NO_PICTURE_SIDE = 1;

export interface PictureStore {
  put(content: Uint8Array): Promise<ArtifactRef>;
}

/** What a tool takes a picture of. */
const OF: Readonly<Record<string, 'window' | 'desktop' | 'screen'>> = {
  capture_window_screenshot: 'window',
  capture_desktop_screenshot: 'desktop',
  capture_screenshot: 'screen',
};

/** Whether the answer of this tool is a picture in the place of a result. */
export const isPicture = (tool: string, { result }: CommandOutcome): boolean =>
  OF[tool] !== undefined && typeof result === 'string';

/** The answer with its picture kept by hash; one that shows nothing, or is none, is said to be so. */
export async function withPicture(
  tool: string,
  outcome: CommandOutcome,
  {
    runId,
    store,
    logger,
  }: { readonly runId: RunId | undefined; readonly store: PictureStore; readonly logger: Logger },
): Promise<CommandOutcome> {
  const of = OF[tool] ?? 'window';
  const said = typeof outcome.result === 'string' ? outcome.result : '';
  const [, base64] = PICTURE.exec(said) ?? [];
  const content = Buffer.from(base64 ?? '', 'base64');
  if (content.length < SIZE_AT + 8 || !content.subarray(0, HEADER.length).equals(HEADER)) {
    const message = `the device answered with no picture: ${said.slice(0, 200)}`;
    return { ...outcome, state: 'FAILED', result: null, error: { code: 'NO_PICTURE', message, outcome: 'failed' } };
  }
  const [width, height] = [content.readUInt32BE(SIZE_AT), content.readUInt32BE(SIZE_AT + 4)];
  if (width <= NO_PICTURE_SIDE && height <= NO_PICTURE_SIDE) return { ...outcome, result: { pictures: [] } };
  const name = `${of}.png`;
  const file = { name, mediaType: 'image/png' };
  // The picture of a phone is its screen, point for point.
  const rect = of === 'screen' ? { rect: [0, 0, width, height] } : {};
  const result = { pictures: [{ of, ...rect, width, height }] };
  const kept = runId === undefined ? content : pngOfRun(content, runId);
  try {
    return { ...outcome, result, files: [{ ...file, artifact: await store.put(kept) }] };
  } catch (error) {
    logger.warn({ err: error, bytes: content.length }, 'a picture of a device was not stored');
    return { ...outcome, result, files: [{ ...file, problem: 'it could not be stored' }] };
  }
}
