// Where a passkey can be enrolled for: what browsers allow, and nothing that they never would.
import { describe, expect, test } from 'vitest'
import { isConsoleAt, siteProblem } from '../src/core/config/webauthn-site.ts'

const said = (rpId: string, ...origins: string[]) => siteProblem({ rpId, origins }, 'passkey')

describe('browsers can use', () => {
  test.each([
    ['approve.example', ['https://approve.example', 'https://console.approve.example:8443']],
    ['a.co.uk', ['https://a.co.uk', 'https://b.a.co.uk']],
    ['team.github.io', ['https://team.github.io']],
    ['xn--bse-sna.example', ['https://xn--bse-sna.example']],
    ['localhost', ['http://localhost:3000', 'https://localhost']],
    ['countersign.localhost', ['http://countersign.localhost:3000', 'http://a.countersign.localhost']],
    ['intranet', ['https://intranet']],
  ])('rpId %s at %j', (rpId, origins) => {
    expect(said(rpId, ...origins)).toBeUndefined()
  })
})

// proves abuse: A passkey for a site that no browser
describe('browsers never use', () => {
  test.each([
    ['com', 'https://evil.com', 'passkey.rpId must not be a public suffix'],
    ['co.uk', 'https://evil.co.uk', 'passkey.rpId must not be a public suffix'],
    ['github.io', 'https://evil.github.io', 'passkey.rpId must not be a public suffix'],
    ['xn--p1ai', 'https://evil.xn--p1ai', 'passkey.rpId must not be a public suffix'],
    ['127.0.0.1', 'http://127.0.0.1', 'passkey.rpId must be a host name, not an address'],
    ['10.0.0.5', 'https://10.0.0.5', 'passkey.rpId must be a host name, not an address'],
    ['2130706433', 'https://2130706433', 'passkey.rpId must be a host name, not an address'],
    ['127.1', 'https://127.1', 'passkey.rpId must be a host name, not an address'],
    ['a..example', 'https://a..example', 'passkey.rpId must be a host name, not an address'],
    ['evil.example', 'https://bank.example', 'passkey.origins.0 must be at rpId evil.example'],
    ['approve.example', 'https://xapprove.example', 'passkey.origins.0 must be at rpId approve.example'],
    ['console.approve.example', 'https://approve.example', 'passkey.origins.0 must be at rpId'],
    ['approve.example', 'http://approve.example', 'passkey.origins.0 must be https'],
    [
      'approve.example',
      'https://approve.example:443',
      'passkey.origins.0 must be written as browsers write it: https://approve.example.',
    ],
    [
      'localhost',
      'http://localhost:80',
      'passkey.origins.0 must be written as browsers write it: http://localhost.',
    ],
    [
      'approve.example',
      'https://approve.example:0443',
      'passkey.origins.0 must be written as browsers write it',
    ],
    ['approve.example', 'https://approve.example:99999', 'passkey.origins.0 must be an origin'],
    ['localhost', 'http://a.localhost', 'passkey.origins.0 must be at rpId localhost'],
    ['intranet', 'https://a.intranet', 'passkey.origins.0 must be at rpId intranet'],
    ['approve.example', 'https://127.0.0.1', 'passkey.origins.0 must be at rpId'],
  ])('rpId %s at %s', (rpId, origin, why) => {
    expect(said(rpId, origin)).toContain(why)
  })

  test('one of several, which is named', () => {
    expect(said('approve.example', 'https://approve.example', 'https://evil.example')).toBe(
      'passkey.origins.1 must be at rpId approve.example or a subdomain of it.',
    )
  })
})

test.each([
  ['http://localhost:35557', 'http://localhost:0', true],
  ['http://localhost:35557', undefined, true],
  ['http://localhost:35557', 'http://localhost:35557', true],
  ['http://localhost:35557', 'http://localhost:35558', false],
  ['https://console.example', 'https://console.example', true],
  ['https://console.example:8443', 'https://console.example', false],
  ['https://console.example', 'http://localhost:0', false],
])('a passkey of %s, where CONSOLE_ORIGIN is %s, is one of the console: %s', (origin, own, isOne) => {
  expect(isConsoleAt(origin, own)).toBe(isOne)
})
