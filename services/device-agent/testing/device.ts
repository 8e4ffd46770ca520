import type { CommandOutcome, DeviceRequest, Json, RunCommandRequest } from '#proto';
import type { GatewayLink, GatewayReply } from '../devices/link.client.js';
import { execCli } from './run.js';

export function outcomeOf(state: CommandOutcome['state'], result: Json = null): CommandOutcome {
  return { state, result, error: null, startedAt: '2026-11-20T10:00:00.000Z', durationMs: 1 };
}

const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

/**
 * Stands in for gateway and device together, for tests: keeps a journal, executes a command id once, obeys stops. Commands
 * end at once, with their `command` as output, unless `holds` says otherwise.
 */
export class ScriptedDevice implements GatewayLink {
  readonly requests: DeviceRequest[] = [];
  /** Command ids in the order of their execution: a doubled one is what must never happen. */
  readonly executed: string[] = [];
  readonly forgotten: string[] = [];
  /** Commands that stay running until `finish`, or a stop. */
  holds = false;
  away = false;
  /** What a command has answered by the time it is stopped. */
  soFar: Json = null;
  respond: (request: RunCommandRequest) => CommandOutcome = ({ command }) =>
    outcomeOf('COMPLETED', execCli(textOf(command.arguments['stdin']) ?? textOf(command.arguments['command']) ?? ''));
  /** Called for each request before it is answered; may answer in its place. */
  intercept: (request: DeviceRequest) => GatewayReply | undefined = () => undefined;
  readonly #journal = new Map<string, CommandOutcome | 'running'>();
  readonly #attempts = new Map<string, string>();
  readonly #stopped = new Set<string>();
  #changed = Promise.withResolvers<void>();

  async ask(request: DeviceRequest): Promise<GatewayReply> {
    if (this.away) return { state: 'away' };
    return this.answer(request);
  }

  tell(request: DeviceRequest): void {
    if (!this.away) this.answer(request);
  }

  answer(request: DeviceRequest): GatewayReply {
    this.requests.push(request);
    const instead = this.intercept(request);
    const reply = instead ?? this.#answer(request);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
    return reply;
  }

  finish(commandId: string, outcome: CommandOutcome): void {
    this.#journal.set(commandId, outcome);
  }

  /** Resolves when the condition holds after some request. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.#changed.promise;
  }

  #answer(request: DeviceRequest): GatewayReply {
    switch (request.kind) {
      case 'run':
        return this.#run(request);
      case 'stop':
        return this.#stop(JSON.stringify(request.attempt));
      case 'stored':
        this.forgotten.push(request.commandId);
        return { state: 'done' };
      case 'forget':
        return { state: 'done' };
      case 'workspaces':
        return { state: 'workspaces', workspaces: [], more: 0 };
      case 'sent':
        return { state: 'away' };
      default:
        return request satisfies never;
    }
  }

  #run(request: RunCommandRequest): GatewayReply {
    const known = this.#journal.get(request.commandId);
    if (known === 'running') return { state: 'running' };
    if (known !== undefined) return { state: 'finished', outcome: known };
    const attempt = JSON.stringify(request.attempt);
    if (this.#stopped.has(attempt)) return { state: 'finished', outcome: outcomeOf('CANCELLED') };
    this.executed.push(request.commandId);
    this.#attempts.set(request.commandId, attempt);
    this.#journal.set(request.commandId, this.holds ? 'running' : this.respond(request));
    return this.#run(request);
  }

  #stop(attempt: string): GatewayReply {
    this.#stopped.add(attempt);
    for (const [commandId, state] of this.#journal) {
      if (state === 'running' && this.#attempts.get(commandId) === attempt)
        this.finish(commandId, outcomeOf('CANCELLED', this.soFar));
    }
    return { state: 'done' };
  }
}
