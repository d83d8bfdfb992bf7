// The client's address, as far as we trust the proxies in front of us (decisions §1 TRUST_PROXY_HOPS).
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * @param forwardedFor X-Forwarded-For as received; the nearest proxy wrote its last entry
 * @param hops number of trusted proxies in front; with 0 the header is ignored
 * @returns the key that limits count by: an IPv4 address, or the /64 of an IPv6 one, since a client holds a whole /64
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, hops: number): string {
  if (hops === 0 || forwardedFor === undefined) return network(peer)
  const entries = forwardedFor.split(',').map((entry) => entry.trim())
  // The peer is the nearest hop itself, so the client stands `hops` entries from the end; a shorter list gives its first entry.
  const entry = withoutPort(entries[Math.max(0, entries.length - hops)] ?? '')
  return isIP(entry) === 0 ? network(peer) : network(entry)
}

/** Some proxies write `192.0.2.1:5678` or `[2001:db8::1]:5678`. */
function withoutPort(entry: string): string {
  const match = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/.exec(entry)
  return match?.[1] ?? match?.[2] ?? entry
}

/** An IPv4 client that reached a proxy over IPv6 has an IPv4-mapped address; all such clients would share one /64. */
function network(address: string): string {
  const plain = plainAddress(address)
  if (isIP(plain) !== 6) return plain
  const { parts } = ipaddr.IPv6.parse(plain)
  return `${parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

/**
 * One spelling for each address, whichever server or proxy wrote it.
 *
 * @returns IPv4, also for an IPv4-mapped IPv6 address, or IPv6 by RFC 5952 without a zone; any other text is returned unchanged
 */
export function plainAddress(text: string): string {
  // `isIP` decides what an address is: ipaddr.js also takes octal digits and fewer than four parts.
  return isIP(text) === 6 ? ipaddr.process(text.replace(/%.*$/, '')).toString() : text
}
