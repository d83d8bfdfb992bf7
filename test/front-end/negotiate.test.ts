// Which coding and which notation a client gets, by the weights that it gives (RFC 9110 §12.4.2, §12.5).
import { expect, test } from 'vitest'
import { codings, preferredCoding, prefersHtml } from '../../src/server/http/negotiate.ts'

test.each([
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP', 'gzip'],
  ['br;q=0.1, gzip;q=0.2', 'gzip'],
  ['br; q=0.001, gzip;Q=0', 'br'],
  ['br;q=0, gzip;q=0.000', 'identity'],
  ['*', 'br'],
  ['*;q=0', 'identity'],
  ['br;q=0, *', 'gzip'],
  ['identity', 'identity'],
  ['identity, br;q=0.5', 'identity'],
  ['identity;q=0.5, br', 'br'],
  ['identity;q=0, gzip;q=0.1', 'gzip'],
  ['identity;q=0', 'identity'],
  ['gzip;q=1.5, br;q=x', 'identity'],
  ['deflate, zstd', 'identity'],
  ['gzipped, brotli', 'identity'],
])('Accept-Encoding %j is answered in %s', (header, coding) => {
  expect(preferredCoding(header, codings)).toBe(coding)
})

test('only what is offered is chosen', () => {
  expect(preferredCoding('br, gzip', ['gzip', 'identity'])).toBe('gzip')
  expect(preferredCoding('br', ['gzip', 'identity'])).toBe('identity')
})

test.each([
  [undefined, false],
  ['*/*', false],
  ['application/json', false],
  ['text/html', true],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
  ['text/html;q=0.5, application/json', false],
  ['text/html;q=0.5, application/*;q=0.4', true],
])('Accept %j prefers HTML: %s', (header, isPreferred) => {
  expect(prefersHtml(header)).toBe(isPreferred)
})
