import type { Socket } from 'node:net';
import { isIPv4, isIPv6 } from 'node:net';
import type { Caller } from '../../contract/call-context.js';

/** The client for shares of memory and connections: the tenant of an API key, or else the address. */
export const clientName = (caller: Caller | undefined, address: string | undefined): string =>
  caller ? `tenant ${caller.tenant}` : `address ${addressGroup(address)}`;

/**
 * The group of addresses that one client can use freely: an IPv4 address, or the 64 leading bits of an IPv6 address,
 * which is what a network assigns to one host.
 */
export function addressGroup(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (isIPv4(address) || !isIPv6(address)) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const [before, after] = [head, tail ?? ''].map((text) => text.split(':').filter((word) => word !== ''));
  const zeros = tail === undefined ? 0 : 8 - before!.length - after!.length;
  const words = [...before!, ...Array<string>(Math.max(0, zeros)).fill('0'), ...after!];
  return `${words
    .slice(0, 4)
    .map((word) => Number.parseInt(word, 16).toString(16))
    .join(':')}::/64`;
}

/** Address and port of the other end, for the log. */
export function addressOf({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
  if (remoteAddress === undefined) return 'unknown';
  return remoteAddress.includes(':') ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`;
}
