import { pino } from 'pino';
import { ServerConnection, type LinkedDevice } from '#libs/aip';
import type { ToolAnswer } from '#libs/mcp';
import type { ClientMessage, CommandId, DeviceMetrics } from '#proto';
import { CommandHandler } from '../../services/device-client/commands/command.handler.js';
import { CommandJournal, type JournalRecord } from '../../services/device-client/commands/command-journal.js';
import { DeviceRequests } from '../../services/device-client/commands/device-requests.js';
import { heartbeatMessage, registerMessage, type DeviceFacts } from '../../services/device-client/commands/messages.js';
import type { Wire } from './wire.js';
import { WITHOUT_WORKSPACES } from '../../services/device-client/testing/no-workspaces.js';

const METRICS: DeviceMetrics = { load1: 0, memoryFreeMb: 1, diskFreeMb: 1, gpus: [] };
const HEARTBEAT_MS = 20_000;
const COMMANDS_AT_ONCE = 2;
const logger = pino({ level: 'silent' });
const later = { connected: () => undefined, disconnected: () => undefined, frame: () => undefined };
const unasked = { onForget: () => undefined, onList: () => undefined };
const nobody = { onCommand: () => undefined, onDisconnected: () => undefined };

/** What survives a crash of the device, and what an observer has counted. */
export interface Disk {
  /** Null: a foreign client, which has none. */
  readonly journalId: string | null;
  readonly records: JournalRecord[];
  /** How often a tool was called for a command. */
  readonly executions: Map<CommandId, number>;
  /** A crash met it between its start and its end. */
  readonly interrupted: Set<CommandId>;
}

export const emptyDisk = (journalId: string | null): Disk => ({
  journalId,
  records: [],
  executions: new Map(),
  interrupted: new Set(),
});

/** How devices differ. */
export interface DeviceWays {
  readonly revision: number;
  readonly disconnectGraceMs: number | null;
  /** Whether the tool that is called now does not care that it is to end. */
  readonly isDeaf: () => boolean;
}

/** What the world needs of a device; one object is one life of its process. */
export interface DeviceUnderTest {
  readonly isConnected: boolean;
  /** Nothing runs, and no result waits to be acknowledged. */
  readonly isIdle: boolean;
  connect(wire: Wire): void;
  tick(): void;
  /** The disk writes what waits for it. */
  flush(): void;
  /** One of the tools that run answers. */
  finishOne(index: number): void;
  /** kill -9. */
  crash(): void;
}

/** JournalFile on a disk that writes when the test says so. */
class DiskJournal {
  readonly journal: CommandJournal;
  readonly #disk: Disk;
  #waiting: { readonly record: JournalRecord; readonly resolve: () => void }[] = [];
  #lazy: JournalRecord[] = [];

  constructor(disk: Disk) {
    this.#disk = disk;
    this.journal = new CommandJournal(disk.journalId ?? '');
    for (const record of disk.records) this.journal.apply(record);
    for (const record of this.journal.interrupted()) {
      this.journal.apply(record);
      disk.records.push(record);
      if (record.type === 'finished') disk.interrupted.add(record.id);
    }
  }

  append(record: JournalRecord): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ record, resolve }));
  }

  note(record: JournalRecord): void {
    this.journal.apply(record);
    this.#lazy.push(record);
  }

  noteLazily(record: JournalRecord): void {
    this.note(record);
  }

  flush(): void {
    const [batch, lazy] = [this.#waiting, this.#lazy];
    [this.#waiting, this.#lazy] = [[], []];
    this.#disk.records.push(...lazy, ...batch.map(({ record }) => record));
    for (const { record } of batch) this.journal.apply(record);
    for (const { resolve } of batch) resolve();
  }
}

/** One life of the device client: from its start to its crash. */
export class DeviceLife implements DeviceUnderTest {
  readonly #handler: CommandHandler;
  readonly #journal: DiskJournal;
  readonly #requests: DeviceRequests;
  readonly #ways: DeviceWays;
  readonly #tools: { readonly end: (answer: ToolAnswer) => void }[] = [];
  #connection: ServerConnection | undefined;
  #wire: Wire | undefined;
  #alive = true;

  constructor(disk: Disk, ways: DeviceWays) {
    this.#ways = ways;
    this.#journal = new DiskJournal(disk);
    const send = (message: ClientMessage): void => {
      if (this.#alive) this.#connection?.send(message);
    };
    this.#handler = new CommandHandler({
      file: this.#journal,
      tools: {
        has: () => true,
        screenUse: () => undefined,
        call: (_tool, _args, { commandId, signal }) => {
          if (commandId !== null) disk.executions.set(commandId, (disk.executions.get(commandId) ?? 0) + 1);
          const { promise, resolve: end } = Promise.withResolvers<ToolAnswer>();
          if (!ways.isDeaf()) signal.addEventListener('abort', () => end({ kind: 'cancelled', value: null }));
          this.#tools.push({ end });
          return promise;
        },
      },
      gate: { refusal: () => Promise.resolve(undefined) },
      ...WITHOUT_WORKSPACES,
      stdin: { collect: () => Promise.resolve({ kind: 'aborted' }), remove: () => Promise.resolve() },
      commandsMax: COMMANDS_AT_ONCE,
      disconnectGraceMs: ways.disconnectGraceMs,
      send,
      sendOutput: send,
      sendResults: () => this.#alive && this.#connection?.sendResults(),
      now: () => Date.now(),
      monotonicMs: () => performance.now(),
      logger,
      onFatal: (error) => {
        throw error;
      },
    });
    const sign = () => ({ clientId: null, requestId: 'r', now: Date.now() });
    const facts = () => this.#facts();
    this.#requests = new DeviceRequests({
      commands: this.#handler,
      foreign: nobody,
      files: later,
      runEnds: unasked,
      send,
      sign,
      facts,
    });
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  get isIdle(): boolean {
    const { running, finished } = this.#handler.holdings();
    return running.length + finished.length === 0;
  }

  flush(): void {
    this.#journal.flush();
  }

  connect(wire: Wire): void {
    const transport = wire.end('device');
    this.#wire = wire;
    this.#connection = new ServerConnection({
      transport: {
        ...transport,
        // A process that is dead hears nothing.
        handle: (handlers) =>
          transport.handle({
            frame: (text) => this.#alive && handlers.frame(text),
            closed: (why) => this.#alive && handlers.closed(why),
          }),
      },
      device: this.#device(),
      clock: { now: () => performance.now() },
      heartbeatMs: HEARTBEAT_MS,
      onFact: () => undefined,
      onEnd: () => (this.#connection = undefined),
    });
    this.#connection.start();
  }

  tick(): void {
    this.#connection?.tick();
  }

  finishOne(index: number): void {
    const [tool] = this.#tools.splice(index % Math.max(1, this.#tools.length), 1);
    tool?.end({ kind: 'answered', isError: false, value: 'done' });
  }

  /** kill -9. Its socket says so to the other end, unless the machine is gone as well. */
  crash(): void {
    this.#alive = false;
    // Timers die with their process.
    this.#handler.onDisconnected();
    void this.#handler.drain(0);
    this.#wire?.break();
    this.#wire?.notice('device');
    this.#connection = undefined;
  }

  #device(): LinkedDevice {
    return {
      register: () => {
        const message = registerMessage({ ...this.#facts(), journalId: this.#journal.journal.journalId });
        const orrery = message.type === 'register' ? message.metadata?.orrery : undefined;
        return message.type === 'register' && orrery
          ? { ...message, metadata: { ...message.metadata, orrery: { ...orrery, revision: this.#ways.revision } } }
          : message;
      },
      holdings: () => this.#handler.holdings(),
      nextResult: () => this.#handler.nextResult(),
      heartbeat: () => heartbeatMessage(null, null, Date.now()),
      onReady: (server) => this.#requests.onReady(server),
      onMessage: (message, server) => this.#requests.onMessage(message, server),
      onDisconnected: (server) => this.#requests.onDisconnected(server),
    };
  }

  #facts(): DeviceFacts {
    const machine = {
      platform: 'linux',
      osVersion: '',
      hostname: 'h',
      arch: '',
      cpuCount: 1,
      memoryMb: 1,
      address: '',
    };
    return {
      clientId: null,
      platform: machine.platform,
      machine,
      tools: [{ name: 'T', description: '', readOnly: false }],
      metrics: METRICS,
      release: '0.1.0',
      hardware: { gpus: [], diskMb: 0 },
      wall: { kind: 'none', views: [] },
      now: Date.now(),
    };
  }
}
