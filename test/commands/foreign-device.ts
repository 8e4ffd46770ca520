import { decodeServerMessage, type Transport } from '#libs/aip';
import type { ClientMessage, CommandId, CommandMessage, Json } from '#proto';
import type { DeviceUnderTest, Disk } from './device.js';
import { DEVICE } from './gateway.js';
import type { Wire } from './wire.js';

const base = { status: 'ok', client_type: 'device', client_id: DEVICE } as const;

/** A client of another system: no journal, no numbers; it executes whatever it is sent, every time, and forgets it when it leaves. */
export class ForeignDevice implements DeviceUnderTest {
  readonly #disk: Disk;
  #transport: Transport | undefined;
  #running: CommandMessage[] = [];

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  get isConnected(): boolean {
    return this.#transport !== undefined;
  }

  get isIdle(): boolean {
    return this.#running.length === 0;
  }

  connect(wire: Wire): void {
    const transport = wire.end('device');
    this.#transport = transport;
    transport.handle({
      frame: (text) => this.#transport === transport && this.#receive(text),
      closed: () => this.#transport === transport && this.crash(),
    });
    this.#send({ ...base, type: 'register' });
  }

  tick(): void {
    // It has nothing to say of its own accord.
  }

  flush(): void {
    // It writes nothing down.
  }

  finishOne(): void {
    const command = this.#running.shift();
    if (command !== undefined) this.#answer(command, 'done');
  }

  crash(): void {
    const transport = this.#transport;
    this.#transport = undefined;
    this.#running = [];
    transport?.terminate();
  }

  #receive(text: string | null): void {
    const decoded = decodeServerMessage(text);
    if (!decoded.ok) throw new Error(decoded.error);
    const { message } = decoded;
    if (message.type !== 'command') return;
    const [action] = message.actions;
    if (action?.tool_name === 'list_tools') return this.#answer(message, [{ tool_name: 'T' }]);
    const commandId: CommandId = message.response_id ?? '';
    this.#disk.executions.set(commandId, (this.#disk.executions.get(commandId) ?? 0) + 1);
    this.#running.push(message);
  }

  #answer({ response_id, session_id }: CommandMessage, result: Json): void {
    const of = { prev_response_id: response_id, session_id };
    this.#send({ ...base, type: 'command_results', ...of, action_results: [{ status: 'success', result }] });
  }

  #send(message: ClientMessage): void {
    this.#transport?.send(JSON.stringify(message));
  }
}
