const OPERATOR = /(?:^|\s)(?:OR|NOT)(?=\s|$)/u;

/**
 * What was typed as one text. Who puts several words into the quotes of his shell means them one behind the other: the shell took the quotes
 * away. Not where there are quotes within, or OR, or NOT: then all of it was put into quotes.
 */
export function searchedWords(typed: readonly string[]): string {
  return typed.map((word) => (isPhrase(word) ? `"${word}"` : word)).join(' ');
}

const isPhrase = (word: string): boolean => /\s/u.test(word.trim()) && !word.includes('"') && !OPERATOR.test(word);
