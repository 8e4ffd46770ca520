import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import { decodeClientMessage, decodeServerMessage, encoded, type FileMessage } from '#libs/aip';
import type { ToolAnswer } from '#libs/mcp';
import { Metrics, systemClock } from '#libs/platform';
import type { CommandCall, Json } from '#proto';
import { fileDesks, type FileDesk } from '../../services/aip-gateway/files/file-desk.adapter.js';
import { gatewayMetrics } from '../../services/aip-gateway/connection/gateway-metrics.adapter.js';
import { FileLink, type FileAnswer } from '../../services/device-client/files/file-link.client.js';
import { FileTools } from '../../services/device-client/files/file-tools.adapter.js';

const logger = pino({ level: 'silent' });

interface Carried {
  readonly to: 'gateway' | 'device';
  readonly text: string;
}

/** Both ends of files without the connection between them: every frame is carried as text, and checked as such. */
export class FileRig {
  readonly dir: string;
  readonly jailDir: string;
  readonly link: FileLink;
  readonly tools: FileTools;
  /** Commands that run, with their arguments; null: not known again yet. */
  readonly commands = new Map<string, CommandCall | null>();
  /** Every frame that was carried so far. */
  readonly types: string[] = [];
  /** After so many frames from now on the connection breaks, once for each number. */
  cuts: number[] = [];
  /** Whether a broken connection comes back by itself. */
  comesBack = true;
  /** Changes frames on the way. */
  forge: ((to: Carried['to'], frame: Json) => Json) | undefined;
  readonly #makeDesk: ReturnType<typeof fileDesks>;
  #desk: FileDesk | undefined;
  #queue: Carried[] = [];
  #carrying = false;
  #commands = 0;

  private constructor(nc: NatsConnection, dir: string) {
    this.dir = dir;
    this.jailDir = join(dir, 'jail');
    const metrics = gatewayMetrics(new Metrics('aip-gateway'));
    this.#makeDesk = fileDesks({ nc, clock: systemClock, logger, metrics });
    this.link = new FileLink({
      send: (message) => this.#carry({ to: 'gateway', text: encoded(message, false).text }),
      now: () => Date.now(),
      monotonicMs: () => performance.now(),
      random: () => 0,
      logger,
    });
    this.tools = new FileTools({ link: this.link, jailDir: this.jailDir, allowed: [join(dir, 'allowed')] });
  }

  static async start(nc: NatsConnection): Promise<FileRig> {
    const rig = new FileRig(nc, await mkdtemp(join(tmpdir(), 'orrery-files-')));
    rig.connect();
    return rig;
  }

  async stop(): Promise<void> {
    this.comesBack = false;
    this.cut();
    // Something may still be written in it.
    await rm(this.dir, { recursive: true, force: true, maxRetries: 50, retryDelay: 20 });
  }

  connect(revision: number | null = 2): void {
    const openCommand = (commandId: string) => {
      const command = this.commands.get(commandId);
      return command === undefined ? undefined : { command };
    };
    const desk = this.#makeDesk({
      deviceId: 'web-1',
      say: (message) => {
        // A desk whose connection is gone speaks to nobody.
        if (this.#desk === desk) this.#carry({ to: 'device', text: encoded(message, false).text });
      },
      congested: false,
      openCommand,
    });
    this.#desk = desk;
    this.link.connected(revision);
  }

  cut(): void {
    const desk = this.#desk;
    this.#desk = undefined;
    this.#queue = [];
    desk?.closed();
    this.link.disconnected();
    if (this.comesBack) setImmediate(() => this.comesBack && this.connect());
  }

  /** Runs a tool as a command that the gateway knows. */
  async call(tool: string, args: Record<string, Json>, signal = new AbortController().signal): Promise<ToolAnswer> {
    const commandId = `run-1.task.1.0.${this.#commands++}`;
    this.commands.set(commandId, { tool, arguments: args });
    const answer = await this.tools.call(tool, args, { signal, commandId });
    this.commands.delete(commandId);
    return answer;
  }

  #carry(frame: Carried): void {
    if (this.#desk === undefined) return;
    this.#queue.push(frame);
    if (this.#carrying) return;
    this.#carrying = true;
    setImmediate(() => this.#next());
  }

  /** One frame per turn of the event loop, so that everything else goes on in between. */
  #next(): void {
    const frame = this.#queue.shift();
    if (frame === undefined) {
      this.#carrying = false;
      return;
    }
    const { forge } = this;
    const text = forge ? JSON.stringify(forge(frame.to, JSON.parse(frame.text) as Json)) : frame.text;
    if (frame.to === 'gateway') {
      const decoded = decodeClientMessage(text);
      if (!decoded.ok) throw new Error(decoded.error);
      this.types.push(decoded.message.type);
      this.#desk?.frame(decoded.message as FileMessage);
    } else {
      const decoded = decodeServerMessage(text);
      if (!decoded.ok) throw new Error(decoded.error);
      this.types.push(decoded.message.type);
      this.link.frame(decoded.message as FileAnswer);
    }
    const [cutAt] = this.cuts;
    if (cutAt !== undefined && this.types.length >= cutAt) {
      this.cuts.shift();
      this.cut();
    }
    setImmediate(() => this.#next());
  }
}
