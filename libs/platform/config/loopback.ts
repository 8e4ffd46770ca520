import { BlockList, isIP, isIPv4 } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether this is a name or an address of this machine for itself; IPv6 also in the brackets of a URL. */
export function isLoopback(host: string): boolean {
  const address = host.toLowerCase().replace(/^\[(.*)\]$/u, '$1');
  if (address === 'localhost') return true;
  return isIP(address) !== 0 && LOOPBACK.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
