// The scripts and style sheets of our pages: a list of names, never a path made from the request.
import { readFileSync } from 'node:fs'
import { failures } from '../../core/errors/errors.ts'
import { answerKept, type KeptDocument } from '../kept-document.ts'
import type { Handler } from '../route.ts'

const ASSET_CACHE = 'public, max-age=86400'

interface Asset {
  /** A file of this folder (`./…`) or of a package. */
  readonly from: string
  readonly type: 'text/javascript' | 'text/css'
}

/** The handler of a route `/…/{asset}`. A file is read at its first request, then kept. */
export function assetHandler(assets: ReadonlyMap<string, Asset>): Handler {
  const read = new Map<string, KeptDocument>()
  return async (request) => {
    const name = request.params['asset'] ?? ''
    const asset = assets.get(name)
    if (asset === undefined) return failures.pathNotFound()
    const document = read.get(name) ?? readAsset(asset)
    read.set(name, document)
    return answerKept(document, request)
  }
}

function readAsset({ from, type }: Asset): KeptDocument {
  return {
    headers: { 'Content-Type': `${type}; charset=utf-8` },
    body: readFileSync(new URL(import.meta.resolve(from)), 'utf8'),
    cache: ASSET_CACHE,
  }
}
