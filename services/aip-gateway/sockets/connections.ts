import type { DeviceId } from '#proto';
import type { Connection } from '../connection/index.js';

/** The open connections of a gateway, in the order of their coming. */
export class Connections {
  /** With what each was let in, or what it brought since: only to ask again whether it still counts. */
  readonly #bearers = new Map<DeviceId, Map<Connection, string>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(connection: Connection, bearer: string): void {
    const { id } = connection.identity;
    const siblings = this.#bearers.get(id) ?? new Map<Connection, string>();
    this.#bearers.set(id, siblings.set(connection, bearer));
    this.#size++;
  }

  /** Another credential of the same identity; of no importance when the connection is gone by now. */
  renewed(connection: Connection, bearer: string): void {
    const siblings = this.#bearers.get(connection.identity.id);
    if (siblings?.has(connection) === true) siblings.set(connection, bearer);
  }

  remove(connection: Connection): void {
    const { id } = connection.identity;
    const siblings = this.#bearers.get(id);
    if (siblings?.delete(connection) !== true) return;
    this.#size--;
    if (siblings.size === 0) this.#bearers.delete(id);
  }

  bearerOf(connection: Connection): string | undefined {
    return this.#bearers.get(connection.identity.id)?.get(connection);
  }

  of(id: DeviceId): Connection[] {
    return [...(this.#bearers.get(id)?.keys() ?? [])];
  }

  all(): Connection[] {
    return [...this.#bearers.values()].flatMap((siblings) => [...siblings.keys()]);
  }
}
