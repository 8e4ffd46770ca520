import { describe, expect, it } from '@jest/globals';
import { LIMITS, type ContentPart } from '#proto';
import { shownMessages } from '../models/index.js';
import { withImages } from './prompt-images.js';

const picture = (sha256: string, bytes = 3): ContentPart => ({
  type: 'image',
  ref: { sha256, bytes },
  mediaType: 'image/png',
});
const asked = (content: readonly ContentPart[]) => shownMessages([{ role: 'user', content: [...content] }]);
const read = (sha256: string): Promise<Uint8Array | null> =>
  Promise.resolve(sha256 === 'gone' ? null : new TextEncoder().encode('png'));

describe('pictures in a prompt', () => {
  it('are put in as they are kept, between the texts that stand around them', async () => {
    const text = { type: 'text', text: 'Look:' } as const;
    const [message] = await withImages(asked([text, picture('a'), picture('gone'), picture('a')]), read);
    const url = `data:image/png;base64,${Buffer.from('png').toString('base64')}`;
    expect(message?.content).toEqual([
      text,
      { type: 'image_url', image_url: { url } },
      { type: 'text', text: '[A picture is left out here: it is not kept any more]' },
      { type: 'image_url', image_url: { url } },
    ]);
  });

  it('are the newest where there are too many, and none is read that is not shown', async () => {
    const reads: string[] = [];
    const fitting = Array.from({ length: LIMITS.promptImagesMax - 1 }, (_, index) => picture(`p${index}`));
    const large = picture('large', LIMITS.promptImageBytesMax + 1);
    const [message] = await withImages(asked([picture('old'), ...fitting, large]), (sha256) => {
      reads.push(sha256);
      return read(sha256);
    });
    expect(reads).toEqual(fitting.map((_, index) => `p${index}`));
    const texts = [message?.content ?? []]
      .flat()
      .flatMap((part) => (typeof part !== 'string' && part.type === 'text' ? [part.text] : []));
    expect(texts).toEqual([
      `[A picture is left out here: at most ${LIMITS.promptImagesMax} are shown]`,
      `[A picture is left out here: it has ${LIMITS.promptImageBytesMax + 1} bytes]`,
    ]);
  });
});
