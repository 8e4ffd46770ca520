import { fullRate, takeToken, type Rate, type RatePolicy } from '#libs/aip';

export interface AddressRatesOptions {
  readonly perAddress: RatePolicy;
  readonly inTotal: RatePolicy;
  /** Addresses that are remembered; the one that was quiet for longest is forgotten. */
  readonly addressesMax: number;
}

/** How often a request may come, from one address and from all together. */
export class AddressRates {
  readonly #options: AddressRatesOptions;
  readonly #rates = new Map<string, Rate>();
  #total: Rate;

  constructor(options: AddressRatesOptions, nowMs: number) {
    this.#options = options;
    this.#total = fullRate(options.inTotal, nowMs);
  }

  /** How long to wait before asking again; 0: go on. What is refused costs nothing, so that waiting always helps. */
  take(address: string, nowMs: number): number {
    const { perAddress, inTotal, addressesMax } = this.#options;
    const key = networkOf(address);
    const [rate, own] = takeToken(this.#rates.get(key) ?? fullRate(perAddress, nowMs), perAddress, nowMs);
    if (own.waitMs > 0) return own.waitMs;
    const [total, all] = takeToken(this.#total, inTotal, nowMs);
    if (all.waitMs > 0) return all.waitMs;
    this.#total = total;
    // Set anew, so that the map is in the order of the last request.
    this.#rates.delete(key);
    this.#rates.set(key, rate);
    const [quietest] = this.#rates.keys();
    if (this.#rates.size > addressesMax && quietest !== undefined) this.#rates.delete(quietest);
    return 0;
  }
}

const IPV4_IN_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/iu;

/** A host with an address of IPv6 has 2^64 of them: they count as one. */
export function networkOf(address: string): string {
  const [, v4] = IPV4_IN_IPV6.exec(address) ?? [];
  if (v4 !== undefined) return v4;
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const groups = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - last.length) }, () => '0');
  const whole = [...groups, ...(tail === undefined ? [] : zeros), ...last];
  return `${whole.slice(0, 4).join(':')}::/64`;
}
