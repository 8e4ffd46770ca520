/** Tests that look at files and compare texts; `-v`, `-R` and `-o` look at variables, and an index is calculated. */
const TEST = /^(?:!|-[a-gkhnprstuwxzGLNOS]|-(?:ef|nt|ot|eq|ne|lt|le|gt|ge|a)|==?|!=)$/u;

/** What in the words of a `test` or `[` is not known, as a part of a sentence; undefined for all other commands. */
export function strangeTest([program, ...rest]: readonly string[]): string | undefined {
  if (program !== '[' && program !== 'test') return undefined;
  if (program === '[' && rest.pop() !== ']') return 'the test has no ] at its end';
  const strange = rest.find((word) => (word.startsWith('-') && !TEST.test(word)) || /[[*]/u.test(word));
  return strange === undefined
    ? undefined
    : `a test of ${strange.slice(0, 40).toWellFormed()} is not known: compare texts or look at files`;
}
