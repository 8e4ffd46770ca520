// Files of one device, for the commands that run there now.
//
//   up:    file_begin ──open? room? small enough?──► have it? ──no──► pieces into the store ──size and checksum──► visible
//   down:  file_request ──open? named by the command? room?──► pieces out of the store, as the device takes them
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import {
  abortFrame,
  Complaints,
  CONNECTION_LOST,
  FILE_ABORTS,
  fileFailure,
  IncomingFile,
  LOST,
  mayPass,
  OutgoingFile,
} from '#libs/aip';
import type { FileAbortCode, FileFailure, FileFrame, FileMessage, FileWire, Transfer } from '#libs/aip';
import { ArtifactError, openArtifact, openUpload } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { Slots } from '#libs/slots';
import { AIP_LIMITS, instantOf, LIMITS, WORKSPACE_OUT } from '#proto';
import type { ArtifactRef, CommandId, Json, Sha256, TransferId } from '#proto';
import type { FileContext, TimedFileDesk } from './file-context.js';
import type { GatewayMetrics } from '../connection/index.js';

export interface FileDeskOptions {
  readonly nc: NatsConnection;
  readonly clock: Clock;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
  readonly logger: Logger;
  readonly metrics: GatewayMetrics;
  /** Transfers of all connections of the gateway together: each may hold a window of a file in memory. */
  readonly budget: Slots;
  readonly device: FileContext;
}

/** Transfers of all devices of a gateway: with the window of each, the memory that files may take. */
const TRANSFERS_OF_GATEWAY_MAX = 64;

/** Makes the desks of one gateway, one for each connection of a device. */
export function fileDesks(
  shared: Pick<FileDeskOptions, 'nc' | 'clock' | 'logger' | 'metrics'>,
): (device: FileContext) => FileDesk {
  const budget = new Slots(TRANSFERS_OF_GATEWAY_MAX);
  const monotonicMs = (): number => performance.now();
  return (device) => new FileDesk({ ...shared, budget, monotonicMs, device });
}

type Begin = Extract<FileMessage, { type: 'file_begin' }>['orrery'];
type Request = Extract<FileMessage, { type: 'file_request' }>['orrery'];

interface Entry {
  readonly id: TransferId;
  readonly commandId: CommandId;
  readonly direction: 'up' | 'down';
  readonly sha256: Sha256;
  bytes: number;
  /** Undefined while the store is asked. */
  transfer: Transfer | undefined;
  over: boolean;
  /** Gives its place in the budget back. */
  readonly leave: () => void;
}

type Wanted = Omit<Entry, 'transfer' | 'over' | 'leave'>;

/** Of all files that one command stores: two whole outputs of the largest size. */
const COMMAND_BYTES_MAX = 2 * LIMITS.fileBytesMax;
/** Of one that stores the files of a task: each may change, and be sent again, some times. */
const WORKSPACE_BYTES_MAX = 3 * LIMITS.filesBytesMax;
/** Ended transfers whose late frames are no mistake. */
const ENDED_KEPT_MAX = 256;

/** Takes and gives the files of one device; nothing of a file is kept in memory beyond the window of its transfer. */
export class FileDesk implements TimedFileDesk {
  readonly #options: FileDeskOptions;
  readonly #wire: FileWire;
  readonly #open = new Map<TransferId, Entry>();
  readonly #ended = new Set<TransferId>();
  /** Bytes that commands have wanted to store on this connection, while they are open. */
  readonly #announced = new Map<CommandId, number>();
  readonly #complaints: Complaints;
  #closed = false;

  constructor(options: FileDeskOptions) {
    const { device, clock } = options;
    this.#options = options;
    this.#complaints = new Complaints(clock.now());
    this.#wire = {
      send: (frame) => this.#send(frame),
      get congested() {
        return device.congested;
      },
    };
  }

  frame(message: FileMessage): void {
    if (this.#closed) return;
    if (message.type === 'file_begin') return this.#begin(message.orrery);
    if (message.type === 'file_request') return this.#request(message.orrery);
    const { transfer_id: id } = message.orrery;
    const entry = this.#open.get(id);
    if (entry?.transfer !== undefined) return entry.transfer.frame(message);
    if (entry !== undefined) return this.#early(entry, message);
    if (message.type === 'file_abort' || this.#ended.has(id)) return;
    this.#refuse(id, fileFailure(FILE_ABORTS.unknownTransfer, 'there is no such transfer on this connection'));
  }

  drained(): void {
    for (const { transfer } of this.#open.values()) transfer?.drained();
  }

  /** A few times a second: what stands still is given up, and what belongs to a command that has ended. */
  tick(): void {
    for (const commandId of this.#announced.keys()) {
      if (this.#options.device.openCommand(commandId) === undefined) this.#announced.delete(commandId);
    }
    for (const entry of this.#open.values()) {
      if (this.#options.device.openCommand(entry.commandId) !== undefined) entry.transfer?.tick();
      else this.#cancel(entry, COMMAND_ENDED);
    }
  }

  closed(): void {
    if (this.#closed) return;
    for (const entry of this.#open.values()) {
      if (entry.transfer === undefined) this.#end(entry, LOST);
      else entry.transfer.closed();
    }
    this.#closed = true;
  }

  #begin({ transfer_id: id, command_id: commandId, sha256, bytes }: Begin): void {
    const refusal = this.#refusalOf(id, commandId) ?? this.#tooMuch(commandId, bytes);
    const entry = this.#admit({ id, commandId, sha256, bytes, direction: 'up' }, refusal);
    if (entry === undefined) return;
    this.#announced.set(commandId, (this.#announced.get(commandId) ?? 0) + bytes);
    void this.#takeUp(entry, { sha256, bytes });
  }

  /** One command could fill the store otherwise, file by file. */
  #tooMuch(commandId: CommandId, bytes: number): FileFailure | undefined {
    if (bytes > LIMITS.fileBytesMax) return TOO_LARGE;
    const announced = (this.#announced.get(commandId) ?? 0) + bytes;
    if (announced <= COMMAND_BYTES_MAX) return undefined;
    const command = this.#options.device.openCommand(commandId)?.command;
    if (command === null) return NOT_KNOWN_YET;
    const isOfTask = command?.tool === WORKSPACE_OUT && announced <= WORKSPACE_BYTES_MAX;
    return isOfTask ? undefined : TOO_MUCH;
  }

  #request({ transfer_id: id, command_id: commandId, sha256 }: Request): void {
    const refusal = this.#refusalOf(id, commandId) ?? this.#notNamed(commandId, sha256);
    const entry = this.#admit({ id, commandId, sha256, bytes: 0, direction: 'down' }, refusal);
    if (entry !== undefined) void this.#giveOut(entry);
  }

  #refusalOf(id: TransferId, commandId: CommandId): FileFailure | undefined {
    const known = this.#open.get(id);
    // Both ends would mean different files by it.
    if (known !== undefined) this.#cancel(known, ID_USED);
    if (known !== undefined || this.#ended.has(id)) return ID_USED;
    if (this.#options.device.openCommand(commandId) === undefined) return NOT_OPEN;
    return this.#open.size >= AIP_LIMITS.transfersMax ? TOO_MANY : undefined;
  }

  /** A device gets what its command names and nothing else: a checksum alone opens no door. */
  #notNamed(commandId: CommandId, sha256: Sha256): FileFailure | undefined {
    const command = this.#options.device.openCommand(commandId)?.command ?? null;
    if (command === null) return NOT_KNOWN_YET;
    return names(command.arguments, sha256) ? undefined : NOT_NAMED;
  }

  #admit(wanted: Wanted, refusal: FileFailure | undefined): Entry | undefined {
    const leave = refusal === undefined ? this.#options.budget.tryEnter() : undefined;
    if (leave === undefined) {
      const why = refusal ?? GATEWAY_FULL;
      this.#note(wanted, why);
      this.#refuse(wanted.id, why);
      return undefined;
    }
    const entry: Entry = { ...wanted, transfer: undefined, over: false, leave };
    this.#open.set(entry.id, entry);
    return entry;
  }

  /** Never rejects. */
  async #takeUp(entry: Entry, ref: ArtifactRef): Promise<void> {
    let file: IncomingFile | undefined;
    try {
      const upload = await openUpload(this.#options.nc, ref, {
        taken: (bytes) => file?.taken(bytes),
        failed: (error) => file?.failed(error),
      });
      if (entry.over) return;
      if (upload !== 'have') {
        file = new IncomingFile({ ...this.#common(entry), sha256: ref.sha256, sink: upload, tellsStored: true });
        entry.transfer = file;
      }
      this.#say({ type: 'file_ready', orrery: { transfer_id: entry.id, have: upload === 'have' } });
      if (upload === 'have') this.#end(entry, null);
    } catch (error) {
      this.#cancel(entry, this.#explain(error, FILE_ABORTS.wrongSize));
    }
  }

  /** Never rejects. */
  async #giveOut(entry: Entry): Promise<void> {
    try {
      const reader = await openArtifact(this.#options.nc, entry.sha256);
      if (entry.over) return;
      entry.bytes = reader.bytes;
      if (reader.bytes > LIMITS.fileBytesMax) return this.#cancel(entry, TOO_LARGE);
      const source = { read: (_: number, bytes: number) => reader.read(bytes), close: () => Promise.resolve() };
      const file = new OutgoingFile({ ...this.#common(entry), source, begun: 'requested' });
      entry.transfer = file;
      const { id, sha256, bytes } = entry;
      this.#say({ type: 'file_begin', orrery: { transfer_id: id, sha256, bytes } });
      file.start();
    } catch (error) {
      this.#cancel(entry, this.#explain(error, FILE_ABORTS.notStored));
    }
  }

  #common(entry: Entry) {
    return {
      transferId: entry.id,
      bytes: entry.bytes,
      wire: this.#wire,
      now: this.#options.monotonicMs,
      explain: (error: unknown) => this.#explain(error, FILE_ABORTS.damaged),
      onEnded: (failure: FileFailure | null) => this.#end(entry, failure),
    };
  }

  /** While the store is asked, only the device's own end of the transfer is in order. */
  #early(entry: Entry, { type }: FileMessage): void {
    if (type === 'file_abort') this.#end(entry, fileFailure(FILE_ABORTS.cancelled, 'given up by the device'));
    else this.#cancel(entry, fileFailure(FILE_ABORTS.wrongTurn, `${type} came before the transfer was begun`));
  }

  #cancel(entry: Entry, failure: FileFailure): void {
    if (entry.over) return;
    if (entry.transfer !== undefined) return entry.transfer.cancel(failure);
    this.#refuse(entry.id, failure);
    this.#end(entry, failure);
  }

  #end(entry: Entry, failure: FileFailure | null): void {
    if (entry.over) return;
    entry.over = true;
    this.#open.delete(entry.id);
    this.#ended.add(entry.id);
    const [oldest] = this.#ended.size > ENDED_KEPT_MAX ? this.#ended : [];
    if (oldest !== undefined) this.#ended.delete(oldest);
    entry.leave();
    this.#note(entry, failure);
  }

  #note({ id, commandId, direction, sha256, bytes }: Wanted, failure: FileFailure | null): void {
    const { logger, metrics, device } = this.#options;
    const about = { deviceId: device.deviceId, commandId, transferId: id, direction, sha256, bytes };
    metrics.fileEnded(direction, outcomeOf(failure), bytes);
    if (failure === null) logger.info(about, 'file transferred');
    else if (!this.#complaints.take(this.#options.clock.now())) return;
    else if (mayPass(failure)) logger.info({ ...about, code: failure.code }, 'file not transferred');
    else logger.warn({ ...about, ...failure }, 'file not transferred');
  }

  /** `broken`: what an artifact that is not as it should be means here. Everything else is the store being away. */
  #explain(error: unknown, broken: FileAbortCode): FileFailure {
    if (error instanceof ArtifactError) return fileFailure(broken, error.message);
    const { logger, device } = this.#options;
    logger.warn({ err: error, deviceId: device.deviceId }, 'the store of artifacts does not work');
    return fileFailure(FILE_ABORTS.storage, 'the store of artifacts cannot be reached now');
  }

  #refuse(id: TransferId, failure: FileFailure): void {
    this.#send(abortFrame(id, failure));
  }

  #send(frame: FileFrame): void {
    this.#say(frame);
  }

  #say(frame: FileFrame | FileAnswer): void {
    const { device, clock } = this.#options;
    const status = frame.type === 'file_abort' ? 'error' : 'ok';
    if (!this.#closed) device.say({ status, timestamp: instantOf(clock.now()), ...frame });
  }
}

type FileAnswer =
  | { readonly type: 'file_ready'; readonly orrery: { readonly transfer_id: TransferId; readonly have: boolean } }
  | {
      readonly type: 'file_begin';
      readonly orrery: { readonly transfer_id: TransferId; readonly sha256: Sha256; readonly bytes: number };
    };

const ID_USED = fileFailure(FILE_ABORTS.transferKnown, 'the transfer id was used before on this connection');
const NOT_OPEN = fileFailure(FILE_ABORTS.commandNotOpen, 'no such command runs on this device in this session');
const COMMAND_ENDED = fileFailure(FILE_ABORTS.commandNotOpen, 'the command of the transfer has ended');
const NOT_KNOWN_YET = fileFailure(
  FILE_ABORTS.commandNotKnownYet,
  'the command runs from before this connection, and its arguments are not known again yet',
);
const NOT_NAMED = fileFailure(FILE_ABORTS.notNamed, 'the command does not name this artifact');
const TOO_LARGE = fileFailure(FILE_ABORTS.tooLarge, `a file has at most ${LIMITS.fileBytesMax} bytes`);
const TOO_MUCH = fileFailure(FILE_ABORTS.tooLarge, `a command stores at most ${COMMAND_BYTES_MAX} bytes`);
const TOO_MANY = fileFailure(
  FILE_ABORTS.tooMany,
  `a connection has at most ${AIP_LIMITS.transfersMax} transfers at the same time`,
);
const GATEWAY_FULL = fileFailure(FILE_ABORTS.tooMany, 'the gateway has no room for another transfer now');

const CODES: ReadonlySet<string> = new Set([...Object.values(FILE_ABORTS), CONNECTION_LOST]);

/** A device may give any code when it aborts; what is counted has few. */
function outcomeOf(failure: FileFailure | null): string {
  if (failure === null) return 'done';
  return CODES.has(failure.code) ? failure.code : 'OTHER';
}

/** Whether a value of the arguments, however deep, is this checksum. */
function names(value: Json, sha256: Sha256): boolean {
  if (value === null || typeof value !== 'object') return value === sha256;
  return Object.values(value).some((item) => names(item, sha256));
}
