// A service whose packages were installed without `prepare`, as by `npm ci --ignore-scripts`: it runs, and says what its pages lack.
import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { readPage } from '../../tools/pages.ts'
import { aCheckoutWithoutPages } from '../pages.ts'
import type { TestService } from '../service.ts'
import { withDatabase } from '../with-service.ts'

const WAY = 'Run "npm run pages" in the folder of the service, after "npm ci".'

let checkout: string
let service: TestService
withDatabase(async ({ start }) => {
  checkout = aCheckoutWithoutPages('bin', 'workers', 'migrations', 'policies', 'webhooks', 'tools')
  service = await start({
    checkout,
    env: { CONSOLE_ORIGIN: 'http://localhost:0' },
  })
})

describe('404 pageNotBuilt', () => {
  test.each(['/verifier', '/verifier/countersign-verify.mjs', '/signer'])('%s', async (path) => {
    const { status, body } = await service.get(path, { key: null })
    expect({ status, body: body as unknown }).toEqual({
      status: 404,
      body: { error: `This page has not been built. ${WAY}` },
    })
  })

  test.each(['/console', '/console/requests', '/console/assets/console.js'])('%s', async (path) => {
    const { port } = new URL(service.url)
    const answer = await fetch(`http://localhost:${port}${path}`)
    expect([answer.status, await answer.text()]).toEqual([
      404,
      expect.stringContaining(JSON.stringify(WAY).slice(1, -1)),
    ])
  })
})

test('the start warns of it once, and the rest is served', async () => {
  expect(service.lines().filter(({ msg }) => String(msg).includes(WAY))).toMatchObject([
    {
      level: 40,
      msg: `The pages /verifier, /signer and /console have not been built and are answered 404. ${WAY}`,
    },
  ])
  expect((await service.get('/documentation', { key: null })).status).toBe(200)
})

test('once they are built they are served, without another start', async () => {
  execFileSync('npm', ['run', 'pages', '--silent'], { cwd: checkout })
  expect((await service.get('/verifier', { key: null })).text).toBe(readPage('verifier.html'))
})
