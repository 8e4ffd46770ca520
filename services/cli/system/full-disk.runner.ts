// A disk that was full, as nats-server sees it: a stream that could not be written answers no publisher any more, also when there is
// space again, until the server is started anew; what it has acknowledged is all there then.
//
//   well ──write error──► full (said) ──space again──► started anew ──► well
import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { lookAtStore } from '#libs/messaging';
import { messageOf } from '../terminal/index.js';

const LOOK_EVERY_MS = 2_000;
/** Less is full again at once. */
const FREE_BYTES_MIN = 16 * 1024 * 1024;

/** The bus that is kept alive by somebody else: who stops it has it started again. */
export interface KeptBus {
  readonly monitorUrl: string;
  stop(): Promise<void>;
}

interface Watched {
  /** The one that runs now. */
  readonly bus: () => KeptBus;
  /** Where its streams are. */
  readonly directory: string;
  /** Told, for people, that the disk is full, and that it is not any more. */
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
  readonly everyMs?: number;
}

/** Starts the bus anew when the disk of its streams was full and has space again. Ends with the signal; never throws. */
export async function mendFullDisk({ bus, directory, say, signal, everyMs = LOOK_EVERY_MS }: Watched): Promise<void> {
  let isSaid = false;
  for (;;) {
    await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    const kept = bus();
    if (!(await isFull(kept.monitorUrl))) {
      isSaid = false;
      continue;
    }
    if ((await freeBytes(directory)) >= FREE_BYTES_MIN) {
      say('nats could not write because the disk was full; there is space again, so it is started anew');
      await kept.stop().catch((error: unknown) => say(messageOf(error)));
    } else if (!isSaid) {
      isSaid = true;
      say(`the disk of ${directory} is full: nothing is taken any more; make space there, and all goes on by itself`);
    }
  }
}

async function isFull(monitorUrl: string): Promise<boolean> {
  try {
    return (await lookAtStore(monitorUrl)).fault?.kind === 'disk-full';
  } catch {
    return false; // It is not there now: who keeps it alive knows.
  }
}

async function freeBytes(directory: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
