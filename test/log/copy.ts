// Copies of logs in files, made for tests without a database: each entry and signature is what the test says.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { formatEntry, type LogEntry } from '../../src/formats/log/entry.ts'
import { rootOf } from '../../src/formats/log/frontier.ts'
import { Heads } from '../../src/formats/log/heads.ts'
import { encodeBundle, TILE_WIDTH, tilePath, widthOf } from '../../src/formats/log/tiles.ts'
import { leafHash } from '../../src/formats/merkle/tree.ts'
import { sha256, sha256Hex } from '../../src/store/sha256.ts'
import { signed, type TestSigner } from './signers.ts'
import { Grown } from './tree.ts'

/**
 * Entries in as many streams as there are callers, numbered and with heads as a log writes them.
 * @param headsAt the indexes of entries of kind heads
 */
export function entriesOf({
  count,
  callers = 3,
  headsAt = [count - 1],
}: {
  readonly count: number
  readonly callers?: number
  readonly headsAt?: readonly number[]
}): LogEntry[] {
  const heads = new Heads([], sha256)
  return Array.from({ length: count }, (_, index) => {
    if (headsAt.includes(index)) return headsEntry(heads)
    const tag = sha256Hex(`caller ${index % callers}`).slice(0, 16)
    const n = (heads.get(tag)?.n ?? 0) + 1
    heads.set({ tag, n, lastIndex: index })
    return { kind: 'receipt', hash: sha256Hex(`receipt ${index}`), streams: [{ stream: 'caller', tag, n }] }
  })
}

const headsEntry = (heads: Heads): LogEntry => ({
  kind: 'heads',
  hash: Buffer.from(heads.root()).toString('hex'),
  streams: [],
})

/** Writes a log as C2SP tlog-tiles, with a checkpoint over all entries. */
export function writeCopy(
  folder: string,
  {
    entries,
    origin,
    signers,
  }: {
    readonly entries: readonly (LogEntry | string)[]
    readonly origin: string
    readonly signers: readonly TestSigner[]
  },
): void {
  const bytes = entries.map((entry) =>
    Buffer.from(typeof entry === 'string' ? entry : formatEntry(entry), 'latin1'),
  )
  const size = bytes.length
  const tree = new Grown()
  tree.append(bytes.map((entry) => leafHash(entry, sha256)))
  for (let n = 0; n * TILE_WIDTH < size; n++) {
    const bundle = bytes.slice(n * TILE_WIDTH, (n + 1) * TILE_WIDTH)
    write(folder, `tile/${tilePath({ level: 'entries', n, width: bundle.length })}`, encodeBundle(bundle))
  }
  for (const [level, hashes] of tree.levels.entries()) {
    for (let n = 0; n * TILE_WIDTH < hashes.length; n++) {
      const width = widthOf({ level, n }, size)
      write(
        folder,
        `tile/${tilePath({ level, n, width })}`,
        Buffer.concat(hashes.slice(n * TILE_WIDTH, n * TILE_WIDTH + width)),
      )
    }
  }
  write(folder, 'checkpoint', signed({ origin, size, root: rootOf(tree.frontier, sha256) }, signers))
}

function write(folder: string, path: string, bytes: Uint8Array | string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), bytes)
}
