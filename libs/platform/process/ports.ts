/** Ports that a service opened besides its own HTTP one; the supervisor is told them when the service is ready. */
export class ServicePorts {
  readonly #ports = new Map<string, number>();

  /** Called before the end of `onApplicationBootstrap`, with the port that was really bound. */
  register(name: string, port: number): void {
    this.#ports.set(name, port);
  }

  all(): Record<string, number> {
    return Object.fromEntries(this.#ports);
  }
}
