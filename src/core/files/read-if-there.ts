import { readFileSync } from 'node:fs'

/** @returns the text of a file, in UTF-8; undefined where there is none */
export function readIfThere(file: string): string | undefined {
  return ifThere(() => readFileSync(file, 'utf8'))
}

/** @returns what a function reads; undefined where the file or folder does not exist. One that may not be read is an error: it is there. */
export function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
