// Writes a file whole or not at all: keys, local callers and the last checkpoint.
import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes a new file durably: a crash at any point leaves the whole file or none under its name.
 * @param mode permission bits
 * @returns false when a file of that name exists, which is left as it is
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
 * Writes a file durably in place of an existing file of that name: a crash at any point leaves the old or the new file.
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

/** @returns the path of a draft beside the final file */
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

/** Makes changes of a folder's names durable: a new file, a rename. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}
