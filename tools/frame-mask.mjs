// The masking of WebSocket frames (RFC 6455, 5.3), four bytes at a time. `ws` alone goes byte by byte, which was the dearest part of a piece
// of a file for who sends it. It looks for a native helper of this shape, which would have to be built for each kind of machine that is a
// device; bundles give it this one.

const WORD_BYTES = 4;

/** Masks so many bytes of the source into the output, from `offset` on. */
export function mask(source, key, output, offset, length) {
  const masked = output.subarray(offset, offset + length);
  masked.set(source.subarray(0, length));
  unmask(masked, key);
}

/** Masks bytes where they lie; the same again makes them what they were. */
export function unmask(bytes, key) {
  if (bytes.length < 2 * WORD_BYTES) return bytewise(bytes, key, 0);
  const first = -bytes.byteOffset & (WORD_BYTES - 1);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + first, Math.floor((bytes.length - first) / WORD_BYTES));
  const last = first + words.length * WORD_BYTES;
  // The key as the first whole word meets it, in the order of bytes that this machine has.
  const turned = Uint8Array.from({ length: WORD_BYTES }, (_, at) => key[(first + at) % WORD_BYTES]);
  const [word] = new Int32Array(turned.buffer);
  bytewise(bytes.subarray(0, first), key, 0);
  for (let at = 0; at < words.length; at++) words[at] ^= word;
  bytewise(bytes.subarray(last), key, last);
}

function bytewise(bytes, key, from) {
  for (let at = 0; at < bytes.length; at++) bytes[at] ^= key[(from + at) % WORD_BYTES];
}
