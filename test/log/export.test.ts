// The copy of a log that an auditor makes and checks: countersign log export and countersign log fsck.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { exportLog, filesOf } from '../../src/cli/log/export.ts'
import { checkLog } from '../../src/cli/log/check-log.ts'
import { openFolder } from '../../src/cli/log/folder.ts'
import { checkpointOpener } from '../../src/cli/log/trust.ts'
import { aLog, anEntry, ORIGIN, queue, settle, signedCheckpoint, type TestLog } from './log.ts'
import { descriptionOf, serveLog, type ServedLog } from './served.ts'

let log: TestLog
let served: ServedLog
let root: string
beforeAll(async () => {
  log = await aLog()
  served = await serveLog(log)
  root = mkdtempSync(join(tmpdir(), 'countersign-export-'))
  await grow(700)
})
afterAll(async () => {
  await served.close()
  await log.close()
  rmSync(root, { recursive: true })
})
afterEach(() => {
  served.intercept = undefined
})

async function grow(count: number): Promise<number> {
  for (let i = 0; i < count; i += 1000)
    await queue(
      log.pool,
      Array.from({ length: Math.min(1000, count - i) }, (_, j) =>
        anEntry({ caller: `caller ${(i + j) % 7}`, capability: 'sandbox:echo' }),
      ),
    )
  await settle(log)
  return (await signedCheckpoint(log)).size
}

let copies = 0
const aFolder = () => join(root, `copy ${copies++}`)
const trust = () => {
  const file = join(root, 'log.json')
  writeFileSync(file, descriptionOf(log))
  return file
}
const fsck = (folder: string) => checkLog({ source: openFolder(folder), open: checkpointOpener(trust()) })
const files = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted()

describe('log export', () => {
  test('writes exactly the files of C2SP tlog-tiles, and the description of the log', async () => {
    const folder = aFolder()
    const { size } = await signedCheckpoint(log)
    const exported = await exportLog({ url: `${served.url}/`, key: undefined, to: folder })
    const tiles = Array.from(filesOf(size), ({ path }) => path)
    expect(tiles).toContain('tile/entries/000')
    expect(tiles).toContain(`tile/1/000.p/${Math.floor(size / 256)}`)
    expect(files(folder)).toEqual(['checkpoint', 'log.json', ...tiles].toSorted())
    expect(exported).toEqual({ origin: ORIGIN, size, fetched: tiles.length, kept: 0 })
    const { checkpoint, streams } = await fsck(folder)
    expect(checkpoint).toMatchObject({ origin: ORIGIN, size })
    expect(streams).toBe(8)
  })

  test('keeps what is there and removes tiles that are full now', async () => {
    const folder = aFolder()
    await exportLog({ url: served.url, key: undefined, to: folder })
    const bundle = join(folder, 'tile', 'entries', '000')
    const written = statSync(bundle).mtimeMs
    const size = await grow(300)
    served.asked.length = 0
    const again = await exportLog({ url: served.url, key: undefined, to: folder })
    expect(served.asked).toHaveLength(again.fetched + 2)
    expect(served.asked).not.toContain('/log/tile/entries/000')
    expect(statSync(bundle).mtimeMs).toBe(written)
    expect(files(folder)).toEqual(
      ['checkpoint', 'log.json', ...Array.from(filesOf(size), ({ path }) => path)].toSorted(),
    )
    expect((await fsck(folder)).checkpoint.size).toBe(size)
  })

  test('that is interrupted leaves the checkpoint that was there', async () => {
    const folder = aFolder()
    const { size } = await exportLog({ url: served.url, key: undefined, to: folder })
    const checkpoint = readFileSync(join(folder, 'checkpoint'), 'utf8')
    await grow(10)
    served.intercept = ({ url }, response) => {
      if (!url!.includes('/tile/0/')) return false
      response.writeHead(500).end('{"error":"Internal error","code":"INTERNAL"}')
      return true
    }
    await expect(exportLog({ url: served.url, key: undefined, to: folder })).rejects.toThrow(
      /^\/log\/1\/tile\/0\/.*: the service answers 500/,
    )
    expect(readFileSync(join(folder, 'checkpoint'), 'utf8')).toBe(checkpoint)
    expect((await fsck(folder)).checkpoint.size).toBe(size)
  })

  test('asks again where the service has no time', async () => {
    const folder = aFolder()
    const refused = new Set<string>()
    served.intercept = ({ url }, response) => {
      if (refused.has(url!)) return false
      refused.add(url!)
      response.writeHead(refused.size % 2 === 0 ? 429 : 503, { 'Retry-After': '0' }).end()
      return true
    }
    const { size } = await exportLog({ url: served.url, key: undefined, to: folder })
    expect((await fsck(folder)).checkpoint.size).toBe(size)
  })

  test.each([
    ['more bytes than a tile has', Buffer.alloc(8193), /^\/log\/1\/tile\/0\/.*more than 8192 bytes/],
    ['half a tile', Buffer.alloc(4096), /^\/log\/1\/tile\/0\/.*128 hashes or entries in place of 256/],
  ])('refuses %s', async (_what, bytes, message) => {
    const folder = aFolder()
    served.intercept = ({ url }, response) => {
      if (!url!.endsWith('/tile/0/000')) return false
      response.end(bytes)
      return true
    }
    await expect(exportLog({ url: served.url, key: undefined, to: folder })).rejects.toThrow(message)
    expect(existsSync(join(folder, 'tile', '0', '000'))).toBe(false)
    expect(existsSync(join(folder, 'checkpoint'))).toBe(false)
  })

  test('refuses a log with another history, and keeps both signed checkpoints', async () => {
    const folder = aFolder()
    await exportLog({ url: served.url, key: undefined, to: folder })
    const file = join(folder, 'checkpoint')
    const note = readFileSync(file, 'utf8')
    const other = note.replace(/\n[^\n]{44}\n/, `\n${Buffer.alloc(32).toString('base64')}\n`)
    writeFileSync(file, other)
    const refused = `${folder} holds ${/\n(\d+)\n/.exec(note)![1]} entries of ${ORIGIN}, and the service has another history: `
    await expect(exportLog({ url: served.url, key: undefined, to: folder })).rejects.toThrow(refused)
    // The export has no keys: the checkpoint that is wrong may be that of the folder.
    await expect(exportLog({ url: served.url, key: undefined, to: folder })).rejects.toThrow(
      'Run `countersign log fsck` on the folder first',
    )
    expect(readFileSync(join(folder, 'checkpoint.contradicting'), 'utf8')).toBe(note)

    await grow(300)
    await expect(exportLog({ url: served.url, key: undefined, to: folder })).rejects.toThrow(refused)
    expect(readFileSync(file, 'utf8')).toBe(other)
    writeFileSync(file, note)
    const { size } = await exportLog({ url: served.url, key: undefined, to: folder })
    expect((await fsck(folder)).checkpoint.size).toBe(size)
  })

  test('downloads again what was deleted because it is damaged, and only that', async () => {
    const folder = aFolder()
    await exportLog({ url: served.url, key: undefined, to: folder })
    const bundle = join(folder, 'tile', 'entries', '000')
    const bytes = readFileSync(bundle)
    // Behind its length and `countersign/1 `: the kind of the first entry.
    bytes.write('x', 16)
    writeFileSync(bundle, bytes)
    await exportLog({ url: served.url, key: undefined, to: folder })
    await expect(fsck(folder)).rejects.toThrow('tile/0/000: hash 0 is not that of entry 0')
    rmSync(join(folder, 'tile', '0', '000'))
    rmSync(bundle)
    expect((await exportLog({ url: served.url, key: undefined, to: folder })).fetched).toBe(2)
    await fsck(folder)
  })

  test('names a checkpoint in the folder that is none, and replaces nothing', async () => {
    const folder = aFolder()
    await exportLog({ url: served.url, key: undefined, to: folder })
    const file = join(folder, 'checkpoint')
    writeFileSync(file, 'garbage\n')
    await expect(exportLog({ url: served.url, key: undefined, to: folder })).rejects.toThrow(
      `${file} is no checkpoint of a log, so export to another folder: the note has no blank line`,
    )
    expect(readFileSync(file, 'utf8')).toBe('garbage\n')
  })

  test('refuses a folder of another log, and a log that has become smaller', async () => {
    const folder = aFolder()
    await exportLog({ url: served.url, key: undefined, to: folder })
    const file = join(folder, 'checkpoint')
    const note = readFileSync(file, 'utf8')
    writeFileSync(file, note.replace(ORIGIN, 'other.example/log/1'))
    await expect(exportLog({ url: served.url, key: undefined, to: folder })).rejects.toThrow(
      `${folder} holds the log other.example/log/1, and the service has ${ORIGIN}: export that to another folder. To compare the copy with the log that was closed, give --number 1.`,
    )
    writeFileSync(file, note.replace(/\n\d+\n/, '\n999999\n'))
    await expect(exportLog({ url: served.url, key: undefined, to: folder })).rejects.toThrow(
      /holds 999999 entries of .* the log has lost entries, or the service is behind\./,
    )
  })
})
