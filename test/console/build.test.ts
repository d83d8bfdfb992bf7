// The console's committed files are what its sources make, and a first visit stays small.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { buildConsole, committedConsole } from '../../tools/console/build.ts'
import { buildSigner, SIGNER_FILE } from '../../tools/signer-page/build.ts'

const SOURCES = join(import.meta.dirname, '..', '..', 'src', 'console')
const BUDGET_BYTES = 150 * 1024

test('the committed files are those that `npm run pages` makes', async () => {
  expect(Object.fromEntries(committedConsole())).toEqual(Object.fromEntries(await buildConsole()))
})

test('the offline signer is what its sources make, and can neither send nor keep anything', async () => {
  const page = readFileSync(SIGNER_FILE, 'utf8')
  expect(page === (await buildSigner()), 'npm run pages').toBe(true)
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page) ?? []
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[^ ]+'; style-src 'sha256-[^ ]+'; img-src data:; /,
  )
  expect(policy).not.toMatch(/connect-src|'self'|unsafe/)
  expect(page).not.toMatch(
    /\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|localStorage|sessionStorage|indexedDB)\b/,
  )
})

test('without the verifier, which is loaded where evidence is looked at, all of it is below 150 kB compressed', () => {
  const sizes = Array.from(committedConsole(), ([name, text]) =>
    name.startsWith('verify-') ? 0 : gzipSync(text, { level: 9 }).length,
  )
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(BUDGET_BYTES)
})

test('no page of ours makes markup of text or runs text', () => {
  const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name),
  )
  expect(sources.length).toBeGreaterThan(20)
  for (const name of sources)
    expect(readFileSync(join(SOURCES, name), 'utf8'), name).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\bstyle=/i,
    )
})
