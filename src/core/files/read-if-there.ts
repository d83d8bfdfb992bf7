import { readFileSync } from 'node:fs'

/** @returns the text of a file, in UTF-8; undefined when there is no such file */
export function readIfThere(file: string): string | undefined {
  return ifThere(() => readFileSync(file, 'utf8'))
}

/** @returns the result of `read`; undefined when the file or folder does not exist. A file without read permission is an error. */
export function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
