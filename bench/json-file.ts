// JSON that somebody names on the command line.
import { readFileSync } from 'node:fs'

/** fails with a sentence that names the file */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`${file} cannot be read as JSON: ${(error as Error).message}`, { cause: error })
  }
}
