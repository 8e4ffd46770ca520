import { ChaosProxy } from '#libs/testing';
import { DeviceProcess, type DeviceProcessOptions } from './aip-faults-process.js';

/** One command that must not be executed twice: its first deed is a line in the device's effect file. */
export interface EffectCommand {
  readonly id: string;
  readonly seconds: number;
  /** It ends only after this gate of its device is opened. */
  readonly gate?: string;
  /** Bytes of what it prints. */
  readonly prints?: number;
  /** Bytes that its command line has more than it needs. */
  readonly padding?: number;
}

const EFFECTS = 'effects';

export function effectOf({ id, seconds, gate, prints = 0, padding = 0 }: EffectCommand): string {
  const output = prints === 0 ? `echo ${id}` : `head -c ${prints} /dev/zero | tr '\\0' x`;
  const comment = padding === 0 ? '' : ` # ${'x'.repeat(padding)}`;
  const wait = gate !== undefined ? `until [ -e ${gate} ]; do sleep 0.05; done` : `sleep ${seconds}`;
  return `printf '%s\\n' ${id} >> ${EFFECTS}; ${wait}; ${output}${comment}`;
}

/** A device that dials through a proxy for each gateway it knows. */
export class FaultDevice {
  readonly id: string;
  readonly proxies: readonly ChaosProxy[];
  readonly process: DeviceProcess;

  private constructor(process: DeviceProcess, proxies: readonly ChaosProxy[]) {
    this.id = process.id;
    this.process = process;
    this.proxies = proxies;
  }

  /** Resolves when it is registered. */
  static async start(options: DeviceProcessOptions): Promise<FaultDevice> {
    const proxies = await Promise.all(options.urls.map((url) => ChaosProxy.start(url)));
    const device = new FaultDevice(new DeviceProcess({ ...options, urls: proxies.map(({ url }) => url) }), proxies);
    await device.process.enrol();
    return device;
  }

  /** The proxy of the gateway that it tries first. */
  get proxy(): ChaosProxy {
    const [proxy] = this.proxies;
    if (proxy === undefined) throw new Error(`${this.id} knows no gateway`);
    return proxy;
  }

  /** What its commands did, in the order in which they did it. */
  effects(): Promise<string[]> {
    return this.process.lines(EFFECTS);
  }

  /** Lets the commands end that wait for it. */
  openGate(gate: string): Promise<void> {
    return this.process.write(gate);
  }

  async stop(): Promise<void> {
    await this.process.kill9();
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
  }
}
