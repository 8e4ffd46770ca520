const BYTES_MAX = 120;
const EXTENSION = /\.[A-Za-z0-9]{1,10}$/u;
/** What names of files that go along lines are not made of. */
const ODD = /[^\p{L}\p{M}\p{N} ._()+@=,-]/gu;
const NAMELESS = 'download';

/** The name of a file as a server suggests it, made one that stays where it is put, is seen, and begins no option. */
export function downloadNameOf(suggested: string): string {
  const last = suggested.toWellFormed().split(/[/\\]/u).at(-1) ?? '';
  const plain = last
    .normalize('NFC')
    .replace(ODD, '_')
    .replace(/\s+/gu, ' ')
    .replace(/^[^\p{L}\p{N}]+|[\s.]+$/gu, '');
  const extension = EXTENSION.exec(plain)?.[0] ?? '';
  let stem = Array.from(plain.slice(0, plain.length - extension.length));
  while (Buffer.byteLength(stem.join('')) > BYTES_MAX - extension.length) stem = stem.slice(0, -1);
  return stem.length === 0 ? NAMELESS + extension : stem.join('') + extension;
}

/** The same with a number, for a place that has one already. */
export function numberedName(name: string, number: number): string {
  if (number === 1) return name;
  const extension = EXTENSION.exec(name)?.[0] ?? '';
  return `${name.slice(0, name.length - extension.length)}-${number}${extension}`;
}
