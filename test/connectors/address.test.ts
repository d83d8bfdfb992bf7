// The address rule of decisions §8, against every notation of a private address that a URL can hold.
import { describe, expect, test } from 'vitest'
import {
  endpointProblem,
  isPublic,
  resolvePublic,
  unreachableEndpoint,
} from '../../src/core/outbound/address.ts'

const inProduction = (url: string) => endpointProblem(url, { production: true })
const inDevelopment = (url: string) => endpointProblem(url, { production: false })
const resolving =
  (...addresses: string[]) =>
  async () =>
    Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))

const notFound = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }))
const unreachable = (endpointUrl: string, ...addresses: string[]) =>
  unreachableEndpoint(endpointUrl, { production: false, lookup: resolving(...addresses) })

describe('an endpoint', () => {
  test.each([
    'https://receiver.example/',
    'https://receiver.example',
    'https://receiver.example:8443/orders',
    'https://xn--mnchen-3ya.example/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
  ])('may be %s', (url) => {
    expect([inProduction(url), inDevelopment(url)]).toEqual([undefined, undefined])
  })

  test.each(['http://127.0.0.1:8080/', 'http://127.8.8.8/x', 'http://[::1]:8080/'])(
    'may be %s, unencrypted on this machine, outside production only',
    (url) => {
      expect([inDevelopment(url), inProduction(url)]).toEqual([undefined, 'must be https'])
    },
  )

  test.each([
    ['a name that another name server may answer', 'http://localhost:8080/'],
    ['an unencrypted public host', 'http://receiver.example/'],
    ['an unencrypted public address', 'http://8.8.8.8/'],
    ['an unencrypted private address', 'http://10.0.0.1/'],
    ['a name that begins as a loopback address', 'http://127.0.0.1.example/'],
    ['the unspecified address', 'http://0.0.0.0/'],
    ['the unspecified IPv6 address', 'http://[::]/'],
  ])('is never %s: %s', (_, url) => {
    expect(inDevelopment(url)).toBe(
      'must be https, or http to a loopback address (127.0.0.1, [::1]; no name such as localhost)',
    )
  })

  test.each([
    'https://127.0.0.1/',
    // proves abuse: An endpoint inside (SSRF): decimal
    'https://127.1/',
    'https://2130706433/',
    // proves abuse: An endpoint inside (SSRF): decimal
    'https://0x7f000001/',
    'https://0x7f.1/',
    // proves abuse: An endpoint inside (SSRF): decimal
    'https://0177.0.0.1/',
    'https://127.0.0.1./',
    'https://１２７.0.0.1/',
    'https://127。0。0。1/',
    'https://127%2e0%2e0%2e1/',
    'https://0/',
    'https://0.0.0.0/',
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://100.64.0.1/',
    // proves abuse: An endpoint inside (SSRF): decimal
    'https://169.254.169.254/latest/meta-data/',
    'https://2852039166/',
    'https://0xa9fea9fe/',
    'https://168.63.129.16/',
    'https://192.0.2.1/',
    'https://203.0.113.7/',
    'https://198.18.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::]/',
    'https://[::1]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b::169.254.169.254]/',
    'https://[64:ff9b:1::808:808]/',
    'https://[2002:7f00:1::]/',
    'https://[2001:0:7f00:1::]/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[fd00:ec2::254]/',
    'https://[fec0::1]/',
    'https://[ff02::1]/',
    'https://[2001:db8::1]/',
    'https://[4000::1]/',
  ])('is no private address, however written: %s', (url) => {
    expect([inProduction(url), inDevelopment(url)]).toEqual(Array(2).fill('must go to a public address'))
  })

  test.each([
    ['https://user@receiver.example/', 'must not hold credentials'],
    ['https://user:secret@receiver.example/', 'must not hold credentials'],
    ['https://:secret@receiver.example/', 'must not hold credentials'],
    ['https://receiver.example/#', 'must not have a fragment'],
    ['https://receiver.example/#x', 'must not have a fragment'],
    ['https://receiver.example/?', 'must not have a query: no secret belongs there'],
    ['https://receiver.example/orders?key=x', 'must not have a query: no secret belongs there'],
    ['https://receiver.example@10.0.0.1/', 'must not hold credentials'],
    ['ftp://receiver.example/', 'must be https'],
    ['gopher://receiver.example/', 'must be https'],
    ['file:///etc/passwd', 'must be https'],
    ['javascript:1', 'must be https'],
    ['receiver.example', 'must be an absolute URL'],
    ['//receiver.example/', 'must be an absolute URL'],
    ['https://256.1.1.1/', 'must be an absolute URL'],
    ['https://[fe80::1%25eth0]/', 'must be an absolute URL'],
    ['', 'must be an absolute URL'],
    ['not a URL', 'must be an absolute URL'],
    ['https://LOCALHOST/', 'must go to a public host name without a dot at its end'],
    ['https://localhost./', 'must go to a public host name without a dot at its end'],
    ['https://1.1.1.1./', 'must be written as https://1.1.1.1/'],
    ['https://localhost/', 'must go to a public host name without a dot at its end'],
    ['https://metadata.localhost/', 'must go to a public host name without a dot at its end'],
    ['https://receiver.example./', 'must go to a public host name without a dot at its end'],
    [`https://receiver.example/${'x'.repeat(2048)}`, 'must be at most 2048 characters'],
  ])('%s %s', (url, problem) => {
    expect(inProduction(url)).toBe(problem)
  })

  // proves abuse: A URL that reads as
  test.each([
    ['HTTPS://Receiver.example/', 'https://receiver.example/'],
    ['https://receiver.example\\@other.example/', 'https://receiver.example/@other.example/'],
    ['https:\\\\receiver.example\\', 'https://receiver.example/'],
    ['https:receiver.example', 'https://receiver.example/'],
    ['https://receiver.example/\0', 'https://receiver.example/'],
    [' https://receiver.example/', 'https://receiver.example/'],
    ['https://receiver\n.example/', 'https://receiver.example/'],
    ['https://receiver。example/', 'https://receiver.example/'],
    ['https://receiver%2eexample/', 'https://receiver.example/'],
    ['https://münchen.example/', 'https://xn--mnchen-3ya.example/'],
    ['https://receiver.example:443/', 'https://receiver.example/'],
    ['https://receiver.example/a/../b', 'https://receiver.example/b'],
    ['https://134744072/', 'https://8.8.8.8/'],
  ])('%j is shown to its checker as the host that it means', (url, canonical) => {
    expect(inProduction(url)).toBe(`must be written as ${canonical}`)
  })
})

describe('a host name', () => {
  test('resolves to all its public addresses', async () => {
    const addresses = ['8.8.8.8', '2606:4700::1111', '64:ff9b::808:808']
    const resolved = await resolvePublic('receiver.example', resolving(...addresses))
    expect(resolved).toMatchObject({ addresses: addresses.map((address) => ({ address })) })
  })

  // proves abuse: DNS rebinding: a name that was public
  test.each([
    [['127.0.0.1']],
    [['8.8.8.8', '10.0.0.1']],
    [['2606:4700::1111', '::1']],
    [['::ffff:10.0.0.1']],
    [['fe80::1%eth0']],
    [['no address']],
  ])('is refused whole for one address that is not public: %j', async (addresses) => {
    const resolved = await resolvePublic('receiver.example', resolving(...addresses))
    expect(resolved).toMatchObject({ code: 'ADDRESS_REFUSED' })
  })

  test('that does not resolve is a problem, not an exception', async () => {
    expect(await resolvePublic('receiver.example', notFound)).toMatchObject({ code: 'ENOTFOUND' })
    expect(await resolvePublic('receiver.example', resolving())).toMatchObject({ code: 'ENOTFOUND' })
  })

  test('is resolved by the system where nothing else is given', async () => {
    expect(await resolvePublic('localhost')).toMatchObject({ code: 'ADDRESS_REFUSED' })
  })
})

// proves abuse: An endpoint inside (SSRF): decimal
test('registration and approval refuse what a call would refuse', async () => {
  const url = 'https://receiver.example/'
  expect(await unreachable(url, '8.8.8.8')).toBeUndefined()
  expect(await unreachable(url, '8.8.8.8', '127.0.0.1')).toBe('must resolve to public addresses only')
  expect(await unreachable(url)).toBe('must go to a host whose name resolves (ENOTFOUND)')
  expect(await unreachable('https://10.0.0.1/', '8.8.8.8')).toBe('must go to a public address')
  expect(await unreachable('http://127.0.0.1:1/')).toBeUndefined()
})

test.each([
  ['100.100.100.200', false],
  ['192.0.0.192', false],
  ['192.88.99.1', false],
  ['172.15.255.255', true],
  ['172.32.0.0', true],
  ['::ffff:8.8.8.8', true],
  ['3fff::1', false],
  ['2001:20::1', false],
  ['5f00::1', false],
])('%s is public: %s', (address, expected) => {
  expect(isPublic(address)).toBe(expected)
})
