// The scripts and style sheets of our pages: names come from a list, and no path is made from the request.
import { readFileSync } from 'node:fs'
import { keepDocuments, type KeptDocument } from '../kept-document.ts'
import type { Handler } from '../route.ts'

const ASSET_CACHE = 'public, max-age=86400'

interface Asset {
  /** A file of this folder (`./…`) or of a package. */
  readonly from: string
  readonly type: 'text/javascript' | 'text/css'
}

/** The handler of a route `/…/{asset}`. @param param the name of that parameter */
export function assetHandler(assets: ReadonlyMap<string, Asset>, param = 'asset'): Handler {
  const answer = keepDocuments((name) => {
    const asset = assets.get(name)
    return asset && readAsset(asset)
  })
  return (request) => answer(request.params[param] ?? '', request)
}

function readAsset({ from, type }: Asset): KeptDocument {
  return {
    headers: { 'Content-Type': `${type}; charset=utf-8` },
    body: readFileSync(new URL(import.meta.resolve(from)), 'utf8'),
    cache: ASSET_CACHE,
  }
}
