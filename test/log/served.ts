// The log of a database over HTTP, as C2SP tlog-tiles names its files: what an export downloads.
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { parseTilePath } from '../../src/formats/log/tiles.ts'
import { logVkeys } from '../../src/core/signing/log-keys.ts'
import { readEntryBundle } from '../../src/store/tables/log-bundles.ts'
import { latestCheckpoint } from '../../src/store/tables/log-checkpoints.ts'
import { readTiles } from '../../src/store/tables/log-tiles.ts'
import { ORIGIN, type TestLog } from './log.ts'

export interface ServedLog {
  readonly url: string
  /** The paths that were asked for. */
  readonly asked: string[]
  /** Answers in place of the log where it returns true. */
  intercept: ((...args: Parameters<RequestListener>) => boolean) | undefined
  readonly close: () => Promise<void>
}

/** As GET /.well-known/countersign-log answers it. */
export function descriptionOf({ keys }: Pick<TestLog, 'keys'>): string {
  const vkeys = logVkeys(ORIGIN, keys)
  const validFrom = '2026-11-21T00:00:00.000Z'
  return JSON.stringify({ logs: [{ origin: ORIGIN, vkeys, validFrom, maximumDelaySeconds: 60 }] })
}

export async function serveLog(log: Pick<TestLog, 'pool' | 'keys'>): Promise<ServedLog> {
  const asked: string[] = []
  const served: { intercept: ServedLog['intercept'] } = { intercept: undefined }
  const server = createServer((request, response) => {
    const path = request.url!.replace(/^\/log\/1\//, '/log/')
    asked.push(path)
    if (served.intercept?.(request, response) === true) return
    void answer(log, path, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(served, {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  })
}

async function answer(
  log: Pick<TestLog, 'pool' | 'keys'>,
  path: string,
  response: ServerResponse,
): Promise<void> {
  const file = await fileOf(log, path)
  if (file === undefined) response.writeHead(404).end()
  else response.writeHead(200, { 'Content-Encoding': file.encoding }).end(file.bytes)
}

interface File {
  readonly bytes: Uint8Array | string
  readonly encoding: string
}

const plain = (bytes: Uint8Array | string | undefined): File | undefined =>
  bytes === undefined ? undefined : { bytes, encoding: 'identity' }

async function fileOf(
  { pool, keys }: Pick<TestLog, 'pool' | 'keys'>,
  path: string,
): Promise<File | undefined> {
  if (path === '/.well-known/countersign-log') return plain(descriptionOf({ keys }))
  if (path === '/log/checkpoint') return plain((await latestCheckpoint(pool))?.note)
  const tile = parseTilePath(path.replace(/^\/log\/tile\//, ''))
  if (tile === undefined) return undefined
  const { level, n, width } = tile
  if (level === 'entries') return readEntryBundle(pool, { log: 1, n, width })
  return plain((await readTiles(pool, 1, [{ level, n, width }]))[0])
}
