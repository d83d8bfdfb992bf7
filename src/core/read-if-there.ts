import { readFileSync } from 'node:fs'

/** @returns the text of a file, in UTF-8; undefined where there is none */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
