// The console and the signer as they are built: a first visit stays small, and nothing leaves the signer.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readPage, readPages } from '../../tools/pages.ts'

const SOURCES = join(import.meta.dirname, '..', '..', 'src', 'console')
const BUDGET_BYTES = 150 * 1024

test('the offline signer can neither send nor keep anything', () => {
  const page = readPage('signer.html')
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
  const files = Object.entries(readPages()).filter(([path]) => /^console\/(?!verify-)/.test(path))
  expect(files.length).toBeGreaterThan(3)
  const sizes = files.map(([, text]) => gzipSync(text, { level: 9 }).length)
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
