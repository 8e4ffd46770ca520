import { arch, availableParallelism, hostname, networkInterfaces, release, totalmem } from 'node:os';

/** What the device says of the machine when it registers: cheap facts only, because it does so at every connection. */
export interface Machine {
  readonly platform: string;
  readonly osVersion: string;
  readonly hostname: string;
  readonly arch: string;
  readonly cpuCount: number;
  readonly memoryMb: number;
  readonly address: string;
}

export function describeMachine(): Machine {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return {
    platform: process.platform,
    osVersion: release(),
    hostname: hostname(),
    arch: arch(),
    cpuCount: availableParallelism(),
    memoryMb: Math.round(totalmem() / 1024 ** 2),
    address: addresses.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.1',
  };
}
