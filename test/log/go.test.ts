// Our log read by Go's own implementation of signed notes and tiled logs, as Debian packages it: nothing of it is ours but the reading of files.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exportLog } from '../../src/cli/log/export.ts'
import { logVkeys } from '../../src/core/signing/log-keys.ts'
import { aLog, anEntry, ORIGIN, queue, settle, signedCheckpoint, type TestLog } from './log.ts'
import { serveLog } from './served.ts'

const GOPATH = '/usr/share/gocode'
const hasGo =
  existsSync(join(GOPATH, 'src', 'golang.org', 'x', 'mod', 'sumdb', 'tlog')) &&
  spawnSync('go', ['version']).status === 0

test.runIf(process.env['CI'] === 'true')('Go and its packages are installed', () => {
  expect(hasGo).toBe(true)
})

describe.skipIf(!hasGo)("Go's note and tlog packages", () => {
  const root = mkdtempSync(join(tmpdir(), 'countersign-go-'))
  const program = join(root, 'check')
  const copy = join(root, 'copy')
  let log: TestLog
  let vkey: string

  beforeAll(async () => {
    log = await aLog()
    const served = await serveLog(log)
    await queue(
      log.pool,
      Array.from({ length: 900 }, () => anEntry()),
    )
    await settle(log)
    await exportLog({ url: served.url, key: undefined, to: copy })
    await served.close()
    // The Ed25519 one: Go knows no other.
    vkey = logVkeys(ORIGIN, log.keys).find((text) => text.length < 200)!
    const built = spawnSync('go', ['build', '-o', program, join(import.meta.dirname, 'go', 'main.go')], {
      env: {
        ...process.env,
        GO111MODULE: 'off',
        GOPATH,
        GOFLAGS: '',
        GOCACHE: join(root, 'cache'),
        CGO_ENABLED: '0',
      },
      encoding: 'utf8',
    })
    expect(built.status, built.stderr).toBe(0)
  })
  afterAll(async () => {
    await log.close()
    rmSync(root, { recursive: true })
  })

  const check = (by = vkey) => spawnSync(program, [copy, by], { encoding: 'utf8' })

  test('open the checkpoint, and prove every entry and many earlier trees from the tiles', async () => {
    const { size } = await signedCheckpoint(log)
    const { status, stdout, stderr } = check()
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({ size, records: size, trees: expect.any(Number) })
    expect((JSON.parse(stdout) as { trees: number }).trees).toBeGreaterThan(40)
  })

  test.each([
    ['checkpoint', 20, /invalid signature|verifiable/],
    ['tile/entries/001', 40, /entry 256: /],
    ['tile/0/001', 100, /downloaded inconsistent tile|invalid transparency proof/],
    ['tile/1/000.p/3', 40, /downloaded inconsistent tile/],
  ])('refuse a changed byte in %s', (path, at, message) => {
    const file = join(copy, path)
    const bytes = readFileSync(file)
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    writeFileSync(file, changed)
    const { status, stderr } = check()
    writeFileSync(file, bytes)
    expect(stderr).toMatch(message)
    expect(status).toBe(1)
  })

  test('refuse a checkpoint by another key', async () => {
    const other = await aLog()
    const { status, stderr } = check(logVkeys(ORIGIN, other.keys).find((text) => text.length < 200))
    await other.close()
    expect(status).toBe(1)
    expect(stderr).toMatch(/no verifiable signatures/)
  })
})
