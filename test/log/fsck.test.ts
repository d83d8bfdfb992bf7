// countersign log fsck, on copies of logs: what is wrong is named, with its place.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { checkLog } from '../../src/cli/log/check-log.ts'
import { openFolder } from '../../src/cli/log/folder.ts'
import { checkpointOpener } from '../../src/cli/log/trust.ts'
import type { LogEntry } from '../../src/formats/log/entry.ts'
import { previousText } from '../../src/formats/log/previous.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { formatVkey } from '../../src/formats/log/note.ts'
import { bundledEnvironment } from '../run/environment.ts'
import { entriesOf, writeCopy } from './copy.ts'
import { aSigner, type TestSigner } from './signers.ts'

const ORIGIN = 'log.example/log/1'
const CLI = join(import.meta.dirname, '..', '..', 'src', 'cli', 'index.ts')
const root = mkdtempSync(join(tmpdir(), 'countersign-log-fsck-'))
afterAll(() => rmSync(root, { recursive: true }))

const signers = [aSigner(ORIGIN, 'ed25519'), aSigner(ORIGIN, 'ml-dsa-44-cosignature')]
let made = 0
function writtenTrust(text: string): string {
  const file = join(root, `trust ${made++}`)
  writeFileSync(file, text)
  return file
}
const description = writtenTrust(
  JSON.stringify({ logs: [{ origin: ORIGIN, vkeys: signers.map(({ key }) => formatVkey(key)) }] }),
)

function aCopy(entries: readonly (LogEntry | string)[], by: readonly TestSigner[] = signers): string {
  const folder = join(root, `copy ${made++}`)
  writeCopy(folder, { entries, origin: ORIGIN, signers: by })
  return folder
}
const fsck = (folder: string, trust = description) =>
  checkLog({ source: openFolder(folder), open: checkpointOpener(trust) })

describe('a log holds', () => {
  test.each([1, 2, 255, 256, 257, 512, 700])('with %i entries', async (count) => {
    const { checkpoint, streams } = await fsck(aCopy(entriesOf({ count })))
    expect(checkpoint).toMatchObject({ origin: ORIGIN, size: count })
    expect(streams).toBe(Math.min(count - 1, 3))
  })

  test('with three levels of tiles, of which one is full', async () => {
    const folder = aCopy(entriesOf({ count: 65_800, callers: 300, headsAt: [255, 40_000, 65_799] }))
    expect(await fsck(folder)).toMatchObject({ checkpoint: { size: 65_800 }, streams: 300 })
    flip(join(folder, 'tile/2/000.p/1'), 5)
    await expect(fsck(folder)).rejects.toThrow('tile/2/000.p/1: hash 0 is not the root of tile/1/000')
  })
})

function flip(file: string, at: number): void {
  const bytes = readFileSync(file)
  bytes[at]! ^= 1
  writeFileSync(file, bytes)
}

describe('a changed byte', () => {
  test.each([
    ['tile/entries/001', 0, 'tile/entries/001: the bundle ends within an entry'],
    ['tile/entries/001', 2, 'tile/entries/001: entry 256: the entry does not begin with countersign/1'],
    ['tile/entries/001', 40, 'tile/0/001: hash 0 is not that of entry 256'],
    ['tile/0/001', 8_191, 'tile/0/001: hash 255 is not that of entry 511'],
    ['tile/0/002.p/188', 32, 'tile/0/002.p/188: hash 1 is not that of entry 513'],
    ['tile/1/000.p/2', 32, 'tile/1/000.p/2: hash 1 is not the root of tile/0/001'],
    ['checkpoint', 20, /^checkpoint: the signature of log\.example\/log\/1 \(key id .{8}\) does not hold$/],
  ])('in %s at %i is found', async (path, at, message) => {
    const folder = aCopy(entriesOf({ count: 700 }))
    flip(join(folder, path), at)
    await expect(fsck(folder)).rejects.toThrow(message)
  })

  test('of a file that is shorter is found', async () => {
    const folder = aCopy(entriesOf({ count: 700 }))
    const file = join(folder, 'tile/0/000')
    writeFileSync(file, readFileSync(file).subarray(0, 8_160))
    await expect(fsck(folder)).rejects.toThrow('tile/0/000: it has 8160 bytes in place of 8192')
  })
})

const numbered = (n: number) => (entry: LogEntry) => ({
  ...entry,
  streams: entry.streams.map((one) => ({ ...one, n })),
})

const changed = (index: number, change: (entry: LogEntry) => LogEntry | string, headsAt?: number[]) =>
  entriesOf({ count: 600, ...(headsAt && { headsAt }) }).map((entry, i) =>
    i === index ? change(entry) : entry,
  )

describe('a log that is signed as it is does not hold', () => {
  test.each([
    [
      'where a stream has a gap',
      changed(300, numbered(102)),
      /^tile\/entries\/001: entry 300 is number 102 of caller=[0-9a-f]{16}, and the one before is 100$/,
    ],
    ['where a number repeats', changed(300, numbered(100)), /entry 300 is number 100 of .* before is 100$/],
    [
      'where one stream has two names',
      changed(300, (entry) => ({ ...entry, streams: [{ ...entry.streams[0]!, stream: 'policy' }] })),
      /^tile\/entries\/001: entry 300 has [0-9a-f]{16} as a policy, and entries before it as a caller$/,
    ],
    [
      'where heads are not those of the streams',
      changed(400, (entry) => ({ ...entry, hash: 'ab'.repeat(32) }), [400, 599]),
      "tile/entries/001: entry 400 is not the root of the streams' heads before it",
    ],
    [
      'where heads are those of an entry less',
      changed(300, (entry) => ({ ...entry, streams: [] })),
      /entry 303 is number 102 of .* before is 100$/,
    ],
    [
      'where its last entry is no heads',
      entriesOf({ count: 600, headsAt: [598] }),
      'tile/entries/002.p/88: entry 599 ends a checkpoint, and is of kind receipt, not heads',
    ],
    ['where nothing is in it', [], 'checkpoint: it is of no entries'],
    [
      'where an entry is no entry',
      changed(300, () => 'hello'),
      'tile/entries/001: entry 300: the entry does not begin with countersign/1',
    ],
  ])('%s', async (_what, entries, message) => {
    await expect(async () => fsck(aCopy(entries))).rejects.toThrow(message)
  })
})

describe('whoever signs', () => {
  const entries = entriesOf({ count: 10 })
  const [ed25519, mlDsa44] = signers

  test('must be all keys of the description', async () => {
    await expect(fsck(aCopy(entries, [ed25519!]))).rejects.toThrow(
      'checkpoint: the checkpoint is not signed by the ML-DSA-44 key of its log',
    )
  })

  test('is whom the policy trusts, witnesses included', async () => {
    const witness = aSigner('witness.example', 'ml-dsa-44-cosignature')
    const policy = writtenTrust(
      `log ${formatVkey(ed25519!.key)}\nwitness w ${formatVkey(witness.key)}\nquorum w\n`,
    )
    const witnessed = await fsck(aCopy(entries, [ed25519!, mlDsa44!, witness]), policy)
    expect(witnessed.checkpoint.cosignedBy).toHaveLength(1)
    await expect(fsck(aCopy(entries), policy)).rejects.toThrow(/^checkpoint: the quorum 'w' is not met/)
  })
})

const run = (folder: string, trust = description, ...others: string[]) =>
  spawnSync(process.execPath, [CLI, 'log', 'fsck', folder, '--log', trust, ...others], {
    env: bundledEnvironment,
    encoding: 'utf8',
  })

describe('the command', () => {
  test('exits 0 and says what it has checked', () => {
    const { status, stdout, stderr } = run(aCopy(entriesOf({ count: 300 })))
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(
      /^log\.example\/log\/1: 300 entries in 3 streams under one checkpoint, signed at 2026-.*\nRoot hash: .*=\nSigned by: .*\nNo problems\.\n$/,
    )
  })

  test('of a log that follows another one prints how that ended, by the description beside the copy', () => {
    const statement = previousText({
      origin: ORIGIN,
      reopenedAt: '2026-05-04T03:02:01.000Z',
      previous: {
        origin: 'log.example/log/0',
        size: 40,
        root: null,
        frozen: 'A disk failed.',
        signedSize: 30,
      },
      checkpoint: null,
      contradiction: null,
      entriesLost: 5,
    })
    const heads = entriesOf({ count: 1 })
    const folder = aCopy([{ kind: 'previous', hash: sha256Hex(statement), streams: [] }, ...heads])
    for (const beside of [undefined, '{', '{"logs":[{"previous":"another"}]}']) {
      if (beside !== undefined) writeFileSync(join(folder, 'log.json'), beside)
      const { status, stderr } = run(folder)
      expect(status).toBe(2)
      expect(stderr).toContain(
        `a statement with the SHA-256 ${sha256Hex(statement)}, which log.json of the copy does not have`,
      )
    }
    writeFileSync(join(folder, 'log.json'), JSON.stringify({ logs: [{}, { previous: statement }] }))
    expect(run(folder).stdout).toContain(
      '\nlog.example/log/0 is frozen: A disk failed.\n' +
        'The database has 40 entries of it; the first 30 are unchanged since they were signed.\n' +
        'No signed checkpoint of it is known.\nAt least 5 signed entries are lost.\nNo problems except those disclosed above.\n',
    )
  })

  test('holds a copy against a checkpoint that was saved earlier', () => {
    const entries = entriesOf({ count: 600, headsAt: [299, 599] })
    const copy = aCopy(entries)
    const saved = (of: readonly LogEntry[], by = signers) => join(aCopy(of, by), 'checkpoint')
    const against = (file: string) => run(copy, description, '--checkpoint', file)
    expect(against(saved(entries.slice(0, 300)))).toMatchObject({ status: 0, stderr: '' })
    const others = saved(entriesOf({ count: 300, callers: 2 }))
    expect(against(others)).toMatchObject({
      status: 1,
      stdout: `${others}: the copy contradicts it at size 300: entries were changed or replaced.\n`,
    })
    const longer = saved(entriesOf({ count: 601 }))
    expect(against(longer)).toMatchObject({
      status: 1,
      stdout: `${longer}: it is signed at size 601, and the copy has 600 entries.\n`,
    })
    const unsigned = saved(entries, [signers[0]!])
    expect(against(unsigned)).toMatchObject({
      status: 2,
      stderr: `countersign: ${unsigned} is no signed checkpoint: the checkpoint is not signed by the ML-DSA-44 key of its log.\n`,
    })
    const folder = join(root, 'another log')
    writeCopy(folder, { entries, origin: 'log.example/log/2', signers })
    expect(against(join(folder, 'checkpoint'))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(
        ' is a checkpoint of log.example/log/2, and the copy is of log.example/log/1.',
      ),
    })
  })

  test('exits 1 and names what is wrong', () => {
    const folder = aCopy(entriesOf({ count: 300 }))
    flip(join(folder, 'tile/0/000'), 70)
    expect(run(folder)).toMatchObject({
      status: 1,
      stdout: 'tile/0/000: hash 2 is not that of entry 2.\n',
      stderr: '',
    })
  })

  test('exits 2 where something cannot be read', () => {
    const folder = aCopy(entriesOf({ count: 300 }))
    unlinkSync(join(folder, 'tile/0/000'))
    expect(run(folder)).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^countersign: tile\/0\/000 cannot be read: ENOENT.* export it again\.\n$/,
      ),
    })
    expect(run(join(root, 'nothing'))).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/has no checkpoint of a log: ENOENT/),
    })
    expect(run(folder, join(root, 'nothing'))).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/nothing cannot be read: ENOENT/),
    })
    expect(run(folder, writtenTrust('{}'))).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/The log description has no list `logs`/),
    })
  })
})
