import { describe, expect, test } from 'vitest'
import { clientAddress, plainAddress } from '../../src/server/http/client-address.ts'

describe('without a proxy of ours', () => {
  test.each(['9.9.9.9', 'garbage', '', undefined])('X-Forwarded-For: %s is not believed', (forwardedFor) => {
    expect(clientAddress('192.0.2.1', forwardedFor, 0)).toBe('192.0.2.1')
  })
})

describe('behind proxies of ours', () => {
  test.each([
    ['198.51.100.7', 1, '198.51.100.7'],
    ['spoofed, 9.9.9.9, 198.51.100.7', 1, '198.51.100.7'],
    ['9.9.9.9,198.51.100.7 , 10.0.0.2', 2, '198.51.100.7'],
    ['198.51.100.7', 3, '198.51.100.7'],
  ])('X-Forwarded-For: %s with %i hops is of %s', (forwardedFor, hops, client) => {
    expect(clientAddress('10.0.0.1', forwardedFor, hops)).toBe(client)
  })

  test.each([undefined, '', 'unknown', '198.51.100.7,', '256.1.1.1', '1.2.3', '::ffff:010.1.2.3'])(
    'X-Forwarded-For: %s names no address: the proxy is counted',
    (forwardedFor) => {
      expect(clientAddress('10.0.0.1', forwardedFor, 1)).toBe('10.0.0.1')
    },
  )
})

test.each([
  ['198.51.100.7:443', '198.51.100.7'],
  ['[2001:db8:1:2::1]:443', '2001:db8:1:2::/64'],
])('the port that a proxy writes behind an address does not count: %s', (forwardedFor, counted) => {
  expect(clientAddress('10.0.0.1', forwardedFor, 1)).toBe(counted)
})

describe('an IPv6 client is counted by its /64', () => {
  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:0:0:0:1', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s', (address, network) => {
    expect(clientAddress(address, undefined, 0)).toBe(network)
    expect(clientAddress('10.0.0.1', address, 1)).toBe(network)
  })
})

test.each(['::ffff:203.0.113.9', '::FFFF:cb00:7109', '0:0:0:0:0:ffff:203.0.113.9'])(
  'an IPv4 client written as %s is counted as itself, not with all the others',
  (address) => {
    expect(clientAddress('10.0.0.1', address, 1)).toBe('203.0.113.9')
    expect(clientAddress(address, undefined, 0)).toBe('203.0.113.9')
  },
)

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['0000:0000:0000:0000:0000:0000:0000:0001', '::1'],
  ['2001:DB8:0:0:1::', '2001:db8:0:0:1::'],
  ['fe80::1%br-0.1', 'fe80::1'],
  ['::ffff:010.1.2.3', '::ffff:010.1.2.3'],
  ['', ''],
])('one spelling for each address: %s is %s', (text, plain) => {
  expect(plainAddress(text)).toBe(plain)
})
