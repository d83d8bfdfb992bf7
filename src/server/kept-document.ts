// Documents that are the same for every client: pages, their scripts, the OpenAPI document, key sets. Each is made once, and hashed and
// compressed once in each coding, so that a reply costs the main thread only the write to its socket.
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { failures, type Failure } from '../core/errors/errors.ts'
import type { Answer } from './answer.ts'
import { etagOf } from './http/etag.ts'
import { codings, preferredCoding, type Coding } from './http/negotiate.ts'
import type { Head } from './http/listen/listener.ts'

export interface KeptDocument {
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** Cache-Control. */
  readonly cache: string
}

/**
 * Quality 5 of 11: the largest document (1.7 MB) takes 31 ms of a pool thread and shrinks to 405 KB, at 11 two seconds and 359 KB. That is
 * short enough for the first request to wait, so neither the start nor a build has to compress documents that may never be requested.
 */
const compress: Readonly<Record<Exclude<Coding, 'identity'>, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: promisify(gzip),
}

/** Answers by their document, so that they are freed with it. */
const answers = new WeakMap<KeptDocument, Map<Coding, Promise<Answer>>>()

/** Answers the document in the coding that the client prefers. The first request of each coding does the work. */
export function answerKept(
  document: KeptDocument,
  { header }: { readonly header: Head['header'] },
): Promise<Answer> {
  const coding = preferredCoding(header('accept-encoding'), codings)
  let ofDocument = answers.get(document)
  if (ofDocument === undefined) answers.set(document, (ofDocument = new Map()))
  let answer = ofDocument.get(coding)
  if (answer === undefined) {
    ofDocument.set(coding, (answer = encoded(document, coding)))
    // The next request tries again: a failure may be temporary, such as a lack of memory.
    answer.catch(() => ofDocument.delete(coding))
  }
  return answer
}

async function encoded({ headers, body, cache }: KeptDocument, coding: Coding): Promise<Answer> {
  const plain = typeof body === 'string' ? Buffer.from(body) : body
  const bytes = coding === 'identity' ? plain : await compress[coding](plain)
  return {
    status: 200,
    headers: {
      ...headers,
      Vary: 'Accept-Encoding',
      ...(coding === 'identity' ? {} : { 'Content-Encoding': coding }),
    },
    body: bytes,
    cache,
    etag: etagOf(bytes),
  }
}

/**
 * @param read reads the document of a name; undefined: there is none
 * @returns a function that answers documents by name. Each is read at its first request, then kept
 */
export function keepDocuments(
  read: (name: string) => KeptDocument | undefined,
): (name: string, request: { readonly header: Head['header'] }) => Promise<Answer | Failure> {
  const kept = new Map<string, KeptDocument>()
  return async (name, request) => {
    const document = kept.get(name) ?? read(name)
    if (document === undefined) return failures.pathNotFound()
    kept.set(name, document)
    return answerKept(document, request)
  }
}

/** @returns a function that makes a value once for each source object */
export function onceFor<Source extends object, Made>(
  make: (source: Source) => Made,
): (source: Source) => Made {
  const made = new WeakMap<Source, { readonly of: Made }>()
  return (source) => {
    let one = made.get(source)
    if (one === undefined) made.set(source, (one = { of: make(source) }))
    return one.of
  }
}
