// The device's end of files (docs/aip.md, "Files"): transfers of this connection, and what to do when it breaks.
//
//   send / fetch ──room──► connected ──► transfer ──► done
//                             ▲             └── broken, or no room at the server ──► wait, begin anew, a few times
//                             └── nobody there: wait, as long as the command may
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  delayMs,
  fileFailure,
  FILE_ABORTS,
  FILE_POLICY,
  IncomingFile,
  LOST,
  mayPass,
  OutgoingFile,
  type FileFailure,
  type FileFrame,
  type FileSink,
  type FileSource,
  type Transfer,
} from '#libs/aip';
import { Slots } from '#libs/slots';
import type { ArtifactRef, ClientMessage, CommandId, ServerMessage } from '#proto';
import { errorCode } from '../faults/index.js';

/** What servers send of files. */
export type FileAnswer = Extract<
  ServerMessage,
  {
    type: 'file_ready' | 'file_stored' | 'file_begin' | 'file_chunk' | 'file_end' | 'file_ack' | 'file_abort';
  }
>;

export interface FileLinkOptions {
  /** Kept until the connection can take it; dropped without one. */
  readonly send: (message: ClientMessage) => void;
  readonly now: () => number;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
  readonly random: () => number;
  readonly logger: Logger;
}

/** For whom a file is moved. */
export interface FileErrand {
  readonly commandId: CommandId;
  /** Nobody wants it any more. */
  readonly signal: AbortSignal;
  /** Given up when nothing has moved for this long, connected or not; without it only the signal and the tries end it. */
  readonly patienceMs?: number;
}

/** Where the bytes of a file go, one object for each try. */
export type OpenSink = (events: { taken(bytes: number): void; failed(error: unknown): void }) => Promise<FileSink>;

/** The revision since which a server knows what files are. */
const FILES_SINCE = 2;
const TRIES_MAX = 8;
/**
 * After a reconnect the server knows a command again when it is asked about it next: within seconds, or within a minute of a busy
 * machine. The same file is as good then.
 */
const TRIES_UNTIL_KNOWN_MAX = 24;
const RETRY = { msMin: 250, msMax: 5_000, uptimeMsMin: 0 };
/** Each way: more would only share the line, and hold more of it in memory. */
const TRANSFERS_AT_ONCE = 2;
const TICK_MS = 1_000;

const triesMaxOf = ({ code }: FileFailure): number =>
  code === FILE_ABORTS.commandNotKnownYet ? TRIES_UNTIL_KNOWN_MAX : TRIES_MAX;

const CANCELLED = fileFailure(FILE_ABORTS.cancelled, 'the command was stopped');
const NO_FILES: FileFailure = { code: 'NO_FILES', message: 'this server takes and gives no files' };
const NOBODY: FileFailure = { code: LOST.code, message: 'there is no connection to the server' };

interface Open {
  readonly transfer: Transfer;
  /** Of a file that was asked for: what the server has to announce. */
  readonly wanted: ArtifactRef | null;
}

type Opening =
  | { readonly type: 'file_begin'; readonly orrery: ArtifactRef & TransferNames }
  | { readonly type: 'file_request'; readonly orrery: Pick<ArtifactRef, 'sha256'> & TransferNames };
interface TransferNames {
  readonly transfer_id: string;
  readonly command_id: CommandId;
}

type OnEnded = (failure: FileFailure | null, settled: Promise<void>) => void;

export class FileLink {
  readonly #options: FileLinkOptions;
  /** What commands read may be long on its way: the outputs of others do not wait for it. */
  readonly #room = { store: new Slots(TRANSFERS_AT_ONCE), fetch: new Slots(TRANSFERS_AT_ONCE) };
  readonly #open = new Map<string, Open>();
  /** Of the connection that is ready now; undefined without one. */
  #revision: number | null | undefined;
  #connected = Promise.withResolvers<void>();
  #transfers = 0;
  #ticking: NodeJS.Timeout | undefined;

  constructor(options: FileLinkOptions) {
    this.#options = options;
  }

  /** Everything may be sent to a server that speaks this revision; null: one that knows none of ours. */
  connected(revision: number | null): void {
    this.#revision = revision;
    this.#connected.resolve();
  }

  disconnected(): void {
    if (this.#revision !== undefined) this.#connected = Promise.withResolvers<void>();
    this.#revision = undefined;
    for (const { transfer } of this.#open.values()) transfer.closed();
  }

  frame(message: FileAnswer): void {
    const open = this.#open.get(message.orrery.transfer_id);
    if (open === undefined) return;
    const { transfer, wanted } = open;
    if (message.type !== 'file_begin') return transfer.frame(message);
    const { sha256, bytes } = message.orrery;
    if (wanted?.sha256 === sha256 && wanted.bytes === bytes) return;
    transfer.cancel(fileFailure(FILE_ABORTS.wrongSize, `the artifact has ${bytes} bytes, not ${wanted?.bytes ?? 0}`));
  }

  /** Stores a file as an artifact; the source is opened for every try. Null: it is there. */
  async store(file: ArtifactRef, openSource: () => FileSource, errand: FileErrand): Promise<FileFailure | null> {
    return this.#persist('store', errand, () => {
      const id = this.#nextId();
      const orrery = { transfer_id: id, command_id: errand.commandId, ...file };
      return this.#follow({ type: 'file_begin', orrery }, errand, (onEnded) => ({
        transfer: new OutgoingFile({
          ...this.#common(id, file, errand),
          source: openSource(),
          begun: 'offered',
          onEnded,
        }),
        wanted: null,
      }));
    });
  }

  /** Gets an artifact; the sink is opened for every try, and throws what nobody else can help with. Null: it has committed the file. */
  async fetch(file: ArtifactRef, openSink: OpenSink, errand: FileErrand): Promise<FileFailure | null> {
    return this.#persist('fetch', errand, async () => {
      const id = this.#nextId();
      let incoming: IncomingFile | undefined;
      const sink = await openSink({
        taken: (bytes) => incoming?.taken(bytes),
        failed: (error) => incoming?.failed(error),
      });
      const orrery = { transfer_id: id, command_id: errand.commandId, sha256: file.sha256 };
      return this.#follow({ type: 'file_request', orrery }, errand, (onEnded) => {
        const common = this.#common(id, file, errand);
        incoming = new IncomingFile({ ...common, sha256: file.sha256, sink, tellsStored: false, onEnded });
        return { transfer: incoming, wanted: file };
      });
    });
  }

  /** Tries again what may pass, as long as somebody wants it. Who waits for his turn waits for others that move, or are given up. */
  async #persist(
    way: 'store' | 'fetch',
    errand: FileErrand,
    once: () => Promise<FileFailure | null>,
  ): Promise<FileFailure | null> {
    const { signal, patienceMs = Infinity } = errand;
    const { monotonicMs } = this.#options;
    const leave = await this.#room[way].enter(signal);
    if (leave === undefined) return CANCELLED;
    try {
      let sinceMs = monotonicMs();
      for (let tries = 1; ; tries++) {
        const beganMs = monotonicMs();
        const failure = (await this.#reachable(signal, sinceMs + patienceMs - beganMs)) ?? (await once());
        if (signal.aborted && failure !== null) return CANCELLED;
        if (failure === null || !mayPass(failure)) return failure;
        // What went on for so long has moved: patience begins anew.
        if (monotonicMs() - beganMs > patienceMs) sinceMs = monotonicMs();
        if (tries >= triesMaxOf(failure) || !(await this.#pause(errand, tries, { failure, sinceMs }))) return failure;
      }
    } finally {
      leave();
    }
  }

  /** False: nobody waits for longer. */
  async #pause(
    { commandId, signal, patienceMs = Infinity }: FileErrand,
    tries: number,
    { failure, sinceMs }: { readonly failure: FileFailure; readonly sinceMs: number },
  ): Promise<boolean> {
    const { logger, monotonicMs, random } = this.#options;
    const waitMs = delayMs(RETRY, tries, random());
    if (monotonicMs() + waitMs - sinceMs >= patienceMs) return false;
    logger.info({ commandId, tries, waitMs, ...failure }, 'a file is tried again');
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    return true;
  }

  /** Waits for a connection; undefined when there is one that knows files. */
  async #reachable(signal: AbortSignal, patienceMs: number): Promise<FileFailure | undefined> {
    if (this.#revision === undefined) await within(this.#connected.promise, signal, patienceMs);
    if (signal.aborted) return CANCELLED;
    if (this.#revision === undefined) return NOBODY;
    return (this.#revision ?? 0) >= FILES_SINCE ? undefined : NO_FILES;
  }

  /** One transfer from its first frame to its end. */
  async #follow(first: Opening, { signal }: FileErrand, make: (onEnded: OnEnded) => Open): Promise<FileFailure | null> {
    const { promise, resolve } = Promise.withResolvers<FileFailure | null>();
    const id = first.orrery.transfer_id;
    const open = make((failure, settled) => {
      this.#open.delete(id);
      if (this.#open.size === 0) this.#stopTicking();
      void settled.then(() => resolve(failure));
    });
    const cancel = (): void => open.transfer.cancel(CANCELLED);
    this.#open.set(id, open);
    this.#ticking ??= setInterval(() => this.#tick(), TICK_MS);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      if (signal.aborted) cancel();
      else if (this.#revision === undefined) open.transfer.closed();
      else this.#say(first);
      return await promise;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  #tick(): void {
    for (const { transfer } of this.#open.values()) transfer.tick();
  }

  #stopTicking(): void {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  #nextId(): string {
    return `f${++this.#transfers}`;
  }

  #common(transferId: string, { bytes }: ArtifactRef, { patienceMs = Infinity }: FileErrand) {
    return {
      transferId,
      bytes,
      // What is under way is bounded by the windows of few transfers.
      wire: { send: (frame: FileFrame) => this.#say(frame), congested: false },
      now: this.#options.monotonicMs,
      explain: diskFailure,
      policy: { ...FILE_POLICY, idleMs: Math.min(patienceMs, FILE_POLICY.idleMs) },
    };
  }

  #say(frame: FileFrame | Opening): void {
    if (frame.type === 'file_stored') return;
    const timestamp = new Date(this.#options.now()).toISOString();
    const status = frame.type === 'file_abort' ? 'error' : 'ok';
    this.#options.send({ status, client_type: 'device', timestamp, ...frame });
  }
}

/** An error of the disk in one sentence; a path is in it only when it is the one that was asked for. */
export function diskFailure(error: unknown): FileFailure {
  const code = errorCode(error);
  const why = code === 'ENOSPC' ? 'no space is left on the disk' : (code ?? messageOf(error));
  return fileFailure(FILE_ABORTS.disk, `the disk of the device: ${why}`);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Waits for the promise, no longer than the signal or the time. */
async function within(promise: Promise<void>, signal: AbortSignal, ms: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const stop = (): void => resolve();
  const timer = Number.isFinite(ms) ? setTimeout(stop, Math.max(0, ms)) : undefined;
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}
