import type { RegisteredClient } from '#libs/aip';
import type { ClientTelemetry, DeviceId } from '#proto';
import type { ParameterInjection } from './parameter-injection.js';

/** What a device said of itself, as those who plan are shown it: from a foreign one's tools what is injected is taken out. */
export class ShownTelemetry {
  readonly #deviceId: DeviceId;
  readonly #injection: ParameterInjection;
  #said: ClientTelemetry | undefined;
  #version = 0;

  constructor(deviceId: DeviceId, injection: ParameterInjection) {
    this.#deviceId = deviceId;
    this.#injection = injection;
  }

  get isForeign(): boolean {
    return this.#said !== undefined;
  }

  /** What the device says when it registers. */
  registered({ revision, telemetry }: RegisteredClient): ClientTelemetry {
    if (revision === null) this.#said = telemetry;
    return this.of(telemetry);
  }

  of(telemetry: ClientTelemetry): ClientTelemetry {
    if (this.#said === undefined) return telemetry;
    this.#said = telemetry;
    this.#version = this.#injection.version;
    return { ...telemetry, tools: this.#injection.shown(this.#deviceId, telemetry.tools) };
  }

  /** What is shown from now on, when other parameters are injected than at the last time; else undefined. */
  changed(): ClientTelemetry | undefined {
    if (this.#said === undefined || this.#version === this.#injection.version) return undefined;
    return this.of(this.#said);
  }
}
