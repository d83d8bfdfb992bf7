// A file that is there whole or not at all: how keys, local callers and the last checkpoint are written.
import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes a new file durably: a crash at any point leaves the whole file or none under its name.
 * @param mode permission bits
 * @returns false where a file of that name exists, which is left as it is
 * @throws the file system's error, which names the path
 */
export function writeWholeFile(path: string, content: string, mode: number): boolean {
  const draft = writeDraft(path, content, mode)
  try {
    linkSync(draft, path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    unlinkSync(draft)
  }
  syncFolder(dirname(path))
  return true
}

/**
 * Writes a file durably in place of the one of that name, if there is one: a crash at any point leaves the old or the new one.
 * @param mode permission bits
 * @throws the file system's error, which names the path
 */
export function replaceWholeFile(path: string, content: string | Uint8Array, mode: number): void {
  const draft = writeDraft(path, content, mode)
  try {
    renameSync(draft, path)
  } catch (error) {
    unlinkSync(draft)
    throw error
  }
  syncFolder(dirname(path))
}

/** @returns the path of a file beside the one that is to be */
function writeDraft(path: string, content: string | Uint8Array, mode: number): string {
  const draft = `${path}.${randomUUID()}.draft`
  const file = openSync(draft, 'wx', mode)
  try {
    writeFileSync(file, content)
    fsyncSync(file)
  } catch (error) {
    unlinkSync(draft)
    throw error
  } finally {
    closeSync(file)
  }
  return draft
}

/** Makes the names in a folder durable: a new file, a rename. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}
