/** Text that stands on a screen: whoever wrote it is not known, and it is as long as it likes. */

export const SCREEN_TEXT = { nameCharsMax: 160, valueCharsMax: 400 } as const;

/** Beyond letters: what moves a cursor, turns text around, or is not seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
const BLANKS = /\s+/gu;

/** A name as it is told: one line, nothing in it hidden, cut where it is too long. */
export const screenName = (text: string, charsMax: number = SCREEN_TEXT.nameCharsMax): string => {
  // What is never told is not looked at: a name may have megabytes.
  const short = text.slice(0, charsMax * 4).toWellFormed();
  const seen = short.replace(BLANKS, ' ').replace(UNSEEN, '\u{fffd}').trim();
  const signs = Array.from(seen);
  return signs.length <= charsMax ? seen : `${signs.slice(0, charsMax - 1).join('')}\u{2026}`;
};
