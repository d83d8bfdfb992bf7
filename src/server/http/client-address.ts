// The client's address, as far as the proxies in front of us are believed (decisions §1 TRUST_PROXY_HOPS).
import { isIP } from 'node:net'

/**
 * in   forwardedFor  X-Forwarded-For as received; the nearest proxy wrote its last entry
 *      hops          how many proxies of ours stand in front; 0 believes no header
 * out  what limits are counted by: an IPv4 address, or the /64 of an IPv6 one, since a client holds a whole /64
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, hops: number): string {
  if (hops === 0 || forwardedFor === undefined) return network(peer)
  const entries = forwardedFor.split(',').map((entry) => entry.trim())
  // The peer is the nearest hop itself, so the client stands `hops` entries from the end; a shorter list is all there is.
  const entry = withoutPort(entries[Math.max(0, entries.length - hops)] ?? '')
  return isIP(entry) === 0 ? network(peer) : network(entry)
}

/** Some proxies write `192.0.2.1:5678` or `[2001:db8::1]:5678`. */
function withoutPort(entry: string): string {
  const match = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/.exec(entry)
  return match?.[1] ?? match?.[2] ?? entry
}

function network(address: string): string {
  if (isIP(address) !== 6) return address
  const groups = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(groups)
  if (mapped !== null) return ipv4(parseInt(mapped[1] ?? '', 16), parseInt(mapped[2] ?? '', 16))
  const [head = '', tail] = groups.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  return `${[...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4).join(':')}::/64`
}

/** An IPv4 client that reached a proxy over IPv6; the /64 of its address would be that of all of them. */
function ipv4(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
