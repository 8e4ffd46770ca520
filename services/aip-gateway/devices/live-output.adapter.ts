import type { NatsConnection } from '@nats-io/transport-node';
import { fullRate, takeToken, type OutputPiece, type Rate } from '#libs/aip';
import type { Clock } from '#libs/platform';
import { subjects, type CommandId, type DeviceId, type OutputChunk } from '#proto';

/** Pieces of one device in a second, of all its commands together: a few times of what an honest one sends. */
const RATE = { perSecond: 400, burst: 800 };
/** Bytes, as they go over the bus: there is one connection to it, and everybody's commands go over it. */
const BYTE_RATE = { perSecond: 4 * 1024 * 1024, burst: 8 * 1024 * 1024 };

/** What a device's commands write, for people who watch: on the bus and nowhere else. */
export class LiveOutput {
  readonly #nc: NatsConnection;
  readonly #clock: Clock;
  readonly #deviceId: DeviceId;
  #rate: Rate;
  #byteRate: Rate;

  constructor({ nc, clock, deviceId }: { nc: NatsConnection; clock: Clock; deviceId: DeviceId }) {
    this.#nc = nc;
    this.#clock = clock;
    this.#deviceId = deviceId;
    this.#rate = fullRate(RATE, clock.now());
    this.#byteRate = fullRate(BYTE_RATE, clock.now());
  }

  /** False: it is left out, because the device writes more than anybody should have to carry. */
  publish(commandId: CommandId, piece: OutputPiece): boolean {
    const nowMs = this.#clock.now();
    const [rate, pieces] = takeToken(this.#rate, RATE, nowMs);
    if (pieces.waitMs > 0) return false;
    const chunk: OutputChunk = { commandId, deviceId: this.#deviceId, ...piece };
    const body = JSON.stringify(chunk);
    const [byteRate, bytes] = takeToken(this.#byteRate, { ...BYTE_RATE, cost: Buffer.byteLength(body) }, nowMs);
    if (bytes.waitMs > 0) return false;
    [this.#rate, this.#byteRate] = [rate, byteRate];
    this.#nc.publish(subjects.output(commandId), body);
    return true;
  }
}
