import type { NatsConnection } from '@nats-io/transport-node';
import type { CutPart } from '#libs/constellation';
import { ArtifactError } from '#libs/messaging';
import { readCutPart } from '#libs/output';
import { hitsOf, type Alternative } from './search-words.js';
import { TextPieces } from './text-pieces.js';
import { readableText, type SearchedText } from './texts.js';
import { wordsIn } from './words.js';

/** Of an output that is kept by itself so much is looked at, from its beginning. */
const WHOLE_BYTES_MAX = 4 * 1024 * 1024;
/** Pieces that have the same word: the best of the first ones is shown. */
const PIECES_OF_TERM_MAX = 8;

/** Looks at what is kept beside a command, piece by piece. Answers whether that was all of it. Throws when the store cannot be reached. */
export async function lookThrough(
  nc: NatsConnection,
  parts: readonly CutPart[],
  look: (text: SearchedText) => void,
): Promise<boolean> {
  let isAll = true;
  for (const part of parts) {
    const of = part.part === 'result' ? 'output' : part.part;
    const isWhole = await throughPart(nc, part, (text) => look({ of, text: readableText(of, text) }));
    isAll &&= isWhole;
  }
  return isAll;
}

/** The pieces of it in which something that is looked for stands. */
export async function piecesWithHits(
  nc: NatsConnection,
  parts: readonly CutPart[],
  alternatives: readonly Alternative[],
): Promise<SearchedText[]> {
  const terms = alternatives.flatMap(({ wanted, unwanted }) => [...wanted, ...unwanted]);
  const kept = terms.map(() => 0);
  const pieces: SearchedText[] = [];
  await lookThrough(nc, parts, (piece) => {
    const words = wordsIn(piece.text);
    const there = terms.map((term) => hitsOf(term, piece.text, words).length > 0);
    if (!there.some((isThere, index) => isThere && (kept[index] ?? 0) < PIECES_OF_TERM_MAX)) return;
    for (const [index, isThere] of there.entries()) if (isThere) kept[index] = (kept[index] ?? 0) + 1;
    pieces.push(piece);
  });
  return pieces;
}

async function throughPart(nc: NatsConnection, part: CutPart, look: (text: string) => void): Promise<boolean> {
  const { ref, isText, bytes, problem } = part;
  // A field of an answer is found in all of it only.
  if (ref === null || (!isText && ref.bytes > WHOLE_BYTES_MAX)) return false;
  const pieces = new TextPieces();
  let read = 0;
  try {
    for await (const data of readCutPart(nc, { ...part, ref })) {
      pieces.push(data.subarray(0, WHOLE_BYTES_MAX - read)).forEach(look);
      read += data.length;
      if (read >= WHOLE_BYTES_MAX) break;
    }
  } catch (error) {
    // Not stored any more, or damaged: what the log holds of it is looked at.
    if (error instanceof ArtifactError || error instanceof SyntaxError) return false;
    throw error;
  }
  pieces.end().forEach(look);
  const isKeptWhole = problem === null && (!isText || bytes === null || bytes === ref.bytes);
  return isKeptWhole && ref.bytes <= WHOLE_BYTES_MAX;
}
