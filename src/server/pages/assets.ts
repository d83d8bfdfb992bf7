// The scripts and style sheets of our pages: a list of names, never a path made from the request.
import { readFileSync } from 'node:fs'
import { failures } from '../../core/errors.ts'
import { etagOf } from '../http/etag.ts'
import type { Answer, Handler } from '../routes/route.ts'

const ASSET_CACHE = 'public, max-age=86400'

interface Asset {
  /** A file of this folder (`./…`) or of a package. */
  readonly from: string
  readonly type: 'text/javascript' | 'text/css'
  /** Changes the text that is served. */
  readonly edit?: (text: string) => string
}

/** The handler of a route `/…/{asset}`. A file is read at its first request, then kept. */
export function assetHandler(assets: ReadonlyMap<string, Asset>): Handler {
  const read = new Map<string, Answer>()
  return async ({ params }) => {
    const name = params['asset'] ?? ''
    const asset = assets.get(name)
    if (asset === undefined) return failures.pathNotFound()
    const answer = read.get(name) ?? assetAnswer(asset)
    read.set(name, answer)
    return answer
  }
}

function assetAnswer({ from, type, edit = (text) => text }: Asset): Answer {
  const text = readFileSync(new URL(import.meta.resolve(from)), 'utf8')
  const body = Buffer.from(edit(text))
  return {
    status: 200,
    headers: { 'Content-Type': `${type}; charset=utf-8` },
    body,
    cache: ASSET_CACHE,
    etag: etagOf(body),
  }
}
