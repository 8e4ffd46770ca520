import { Inject } from '@nestjs/common';
import { DeviceId, deviceIdOfSubject, DURABLES, parseJson } from '#proto';
import { DONE, TimerBody, type BusMessage, type Outcome } from '#libs/messaging';
import { TakesMessages, Takes } from '#libs/platform';
import { FleetHandler } from './fleet.handler.js';

/** Due timers of devices: the replica that gets one looks at the device. */
@TakesMessages()
export class DueTimers {
  readonly #fleet: Pick<FleetHandler, 'due'>;

  constructor(@Inject(FleetHandler) fleet: Pick<FleetHandler, 'due'>) {
    this.#fleet = fleet;
  }

  /** Acknowledged after the facts that follow are stored; a second delivery finds nothing left to decide. */
  @Takes(DURABLES.registryDue)
  async due(message: BusMessage): Promise<Outcome> {
    const deviceId = DeviceId.safeParse(deviceIdOfSubject(message.subject));
    const due = parseDue(message.data);
    if (!deviceId.success || due === undefined) return { kind: 'poison', reason: 'not a due timer of a device' };
    await this.#fleet.due(deviceId.data, { kind: 'timer', id: String(message.sequence) }, due);
    return DONE;
  }
}

function parseDue(data: Uint8Array): number | undefined {
  const body = TimerBody.safeParse(parseJson(data));
  return body.success ? Date.parse(body.data.at) : undefined;
}
