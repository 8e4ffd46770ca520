import type { ServerFacts, ServerRequest } from '#libs/aip';
import type { ClientMessage } from '#proto';
import type { CommandHandler } from './command.handler.js';
import type { FileLink } from '../files/index.js';
import type { RunEnds } from './run-ends.handler.js';
import type { ForeignCommandHandler } from './foreign-command.handler.js';
import { deviceInfoMessage, taskMessage, type DeviceFacts, type AnsweringClient } from './messages.js';

export interface DeviceRequestsOptions {
  readonly commands: Pick<CommandHandler, 'onCommand' | 'onStop' | 'onStored' | 'onConnected' | 'onDisconnected'>;
  readonly foreign: Pick<ForeignCommandHandler, 'onCommand' | 'onDisconnected'>;
  readonly files: Pick<FileLink, 'connected' | 'disconnected' | 'frame'>;
  readonly runEnds: Pick<RunEnds, 'onForget' | 'onList'>;
  readonly send: (message: ClientMessage) => void;
  readonly sign: () => AnsweringClient;
  /** What is said of this device, as of now. */
  readonly facts: () => DeviceFacts;
}

/** Who serves what a server asks for. Only a server that confirmed one of our revisions is spoken to in its words. */
export class DeviceRequests {
  readonly #options: DeviceRequestsOptions;

  constructor(options: DeviceRequestsOptions) {
    this.#options = options;
  }

  onReady(server: ServerFacts): void {
    this.#options.files.connected(server.revision);
    if (isOurs(server)) this.#options.commands.onConnected();
  }

  onDisconnected(server: ServerFacts | null): void {
    this.#options.files.disconnected();
    this.#options.foreign.onDisconnected();
    if (isOurs(server)) this.#options.commands.onDisconnected();
  }

  onMessage(message: ServerRequest, server: ServerFacts | null): void {
    const { commands, foreign, send, sign, facts } = this.#options;
    if (message.type === 'device_info_request') return send(deviceInfoMessage(message, facts()));
    if (!isOurs(server)) {
      if (message.type === 'command') foreign.onCommand(message);
      // Its TASK is no order yet: it wants to be asked, and sends commands then.
      else if (message.type === 'task') send(taskMessage(message, facts().platform, sign()));
      return;
    }
    switch (message.type) {
      case 'command': {
        const { orrery } = message;
        return orrery ? commands.onCommand({ ...message, orrery }) : foreign.onCommand(message);
      }
      case 'stop_attempt':
        return commands.onStop(message.orrery.attempt);
      case 'result_stored':
        return commands.onStored(message.orrery.command_id);
      case 'forget_run':
        return this.#options.runEnds.onForget(message.orrery);
      case 'workspaces_request':
        return this.#options.runEnds.onList(message.orrery);
      case 'file_ready':
      case 'file_stored':
      case 'file_begin':
      case 'file_chunk':
      case 'file_end':
      case 'file_ack':
      case 'file_abort':
        return this.#options.files.frame(message);
      default:
        // TASK_END is for information, and nothing else is meant for a device.
        return;
    }
  }
}

const isOurs = (server: ServerFacts | null): boolean => server !== null && server.revision !== null;
