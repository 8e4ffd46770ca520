const decoder = new TextDecoder('utf-8', { fatal: true });

/** Stored bytes as JSON; undefined when they are none, which no schema accepts. */
export function parseJson(data: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(data));
  } catch {
    return undefined;
  }
}
