// SHA-256 (FIPS 180-4) at once: what a browser has itself answers later, and not at all where the console is reached over plain HTTP.
const ROUNDS = 64;
const BLOCK_BYTES = 64;

/** The first 32 bits of what is behind the point of a root. */
function fractionOf(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
}

const primes: number[] = [];
for (let candidate = 2; primes.length < ROUNDS; candidate++) {
  if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
}
const BEGIN = primes.slice(0, 8).map((prime) => fractionOf(Math.sqrt(prime)));
const CONSTANTS = Int32Array.from(primes, (prime) => fractionOf(Math.cbrt(prime)));

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

export function sha256(bytes: Uint8Array): Uint8Array {
  const blocks = Math.ceil((bytes.length + 9) / BLOCK_BYTES);
  const padded = new Uint8Array(blocks * BLOCK_BYTES);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  const state = Int32Array.from(BEGIN);
  const words = new Int32Array(ROUNDS);
  for (let block = 0; block < padded.length; block += BLOCK_BYTES) {
    for (let at = 0; at < 16; at++) words[at] = view.getInt32(block + at * 4);
    for (let at = 16; at < ROUNDS; at++) words[at] = extended(words, at);
    mix(state, words);
  }
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  for (const [at, word] of state.entries()) out.setInt32(at * 4, word);
  return digest;
}

function extended(words: Int32Array, at: number): number {
  const [early, late] = [words[at - 15] ?? 0, words[at - 2] ?? 0];
  const first = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
  const second = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
  return ((words[at - 16] ?? 0) + first + (words[at - 7] ?? 0) + second) | 0;
}

function mix(state: Int32Array, words: Int32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let at = 0; at < ROUNDS; at++) {
    const chosen = (e & f) ^ (~e & g);
    const most = (a & b) ^ (a & c) ^ (b & c);
    const one =
      (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + chosen + (CONSTANTS[at] ?? 0) + (words[at] ?? 0)) | 0;
    const two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + most) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) state[at] = ((state[at] ?? 0) + word) | 0;
}
