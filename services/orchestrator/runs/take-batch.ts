/** Inputs of one commit, so that their results fit into it. */
const COMMIT_INPUT_BYTES_MAX = 256 * 1024;
const COMMIT_INPUTS_MAX = 500;

/** Takes as many from the front as one commit holds; one at least, when there is one. `bytes`: what each may leave in it. */
export function takeBatch<W extends { readonly bytes: number }>(waiting: W[]): W[] {
  let bytes = 0;
  let count = 0;
  for (const one of waiting) {
    bytes += one.bytes;
    if (count > 0 && (bytes > COMMIT_INPUT_BYTES_MAX || count >= COMMIT_INPUTS_MAX)) break;
    count++;
  }
  return waiting.splice(0, count);
}
