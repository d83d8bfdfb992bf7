// JSON that a command reads: in a file, on standard input, or in an answer.
import { readFileSync } from 'node:fs'
import { MalformedJson, parseJson } from '../core/json/json.ts'

/**
 * @param what names the bytes, and begins the sentence
 * @throws Error with a sentence for JSON that the service would refuse too
 */
export function jsonIn(bytes: Uint8Array, what: string): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    if (!(error instanceof MalformedJson)) throw error
    throw new Error(`${what} is not JSON: ${error.message}.`, { cause: error })
  }
}

/**
 * @param source a file; `-` is standard input
 * @throws as `jsonIn`
 */
export function readJson(source: string): unknown {
  return source === '-' ? jsonIn(readFileSync(0), 'Standard input') : jsonIn(readFileSync(source), source)
}
