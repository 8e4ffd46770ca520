import { readOffer } from '#libs/device-offer';
import type { DeviceOffer } from '#proto';

export interface DeviceOffersParts {
  /** Of the gateway, as devices reach it; undefined: nobody has said so. */
  readonly url: string | undefined;
  /** Where the archives of the client lie. */
  readonly dir: string;
}

/** What this installation has for machines that are to become devices. */
export class DeviceOffers {
  readonly url: string | undefined;
  readonly #dir: string;

  constructor({ url, dir }: DeviceOffersParts) {
    this.url = url;
    this.#dir = dir;
  }

  /** Undefined: nobody has made an archive yet. */
  newest(): Promise<DeviceOffer | undefined> {
    return readOffer(this.#dir);
  }
}
