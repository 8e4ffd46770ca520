import { setFlagsFromString } from 'node:v8';

/** The first version of V8 that knows the flag. */
const V8_SINCE = 13;
/** V8 counts it twice over: what is young is collected when 4 MiB of buffers are in it. */
const YOUNG_MIB = 1;

/**
 * For a process that moves files: its buffers are collected while they are young. To V8 a buffer is a few words with bytes that lie
 * elsewhere, and those bytes make it mark the whole heap, again after every few MiB of a file, long before the young generation is
 * full. That cost four times as much as moving the file. The heap itself stays as large as it may be.
 */
export function collectBuffersEarly(v8Version: string = process.versions.v8): void {
  if (Number.parseInt(v8Version, 10) >= V8_SINCE)
    setFlagsFromString(`--scavenger-max-new-space-capacity-mb=${YOUNG_MIB}`);
}
