import { LIMITS, type ContentPart } from '#proto';
import { picturesIn, type ShownMessages, withPictures } from '../models/index.js';

/**
 * The messages with the pictures that they name, as `data:` URLs: read when the model is asked, so that what is made again needs
 * no device, and what is kept of a prompt stays small. Of too many the last ones are shown, the newest; in place of one that is
 * not there, or too large, the model is told so. `read` gives null for one that cannot be had.
 */
export async function withImages(
  messages: ShownMessages,
  read: (sha256: string) => Promise<Uint8Array | null>,
): Promise<ShownMessages> {
  const named = picturesIn(messages);
  if (named.length === 0) return messages;
  const left = new Set(named.slice(0, -LIMITS.promptImagesMax));
  const contents = new Map<string, Uint8Array | null>();
  for (const { ref } of named.filter(
    (picture) => !left.has(picture) && picture.ref.bytes <= LIMITS.promptImageBytesMax,
  ))
    if (!contents.has(ref.sha256)) contents.set(ref.sha256, await read(ref.sha256));
  return withPictures(messages, (picture) => {
    const { ref, mediaType } = picture;
    if (left.has(picture)) return leftOut(`at most ${LIMITS.promptImagesMax} are shown`);
    if (ref.bytes > LIMITS.promptImageBytesMax) return leftOut(`it has ${ref.bytes} bytes`);
    const content = contents.get(ref.sha256) ?? null;
    if (content === null) return leftOut('it is not kept any more');
    const url = `data:${mediaType};base64,${Buffer.from(content).toString('base64')}`;
    return { type: 'image_url', image_url: { url } };
  });
}

const leftOut = (why: string): ContentPart => ({ type: 'text', text: `[A picture is left out here: ${why}]` });
