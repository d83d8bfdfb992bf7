// How `npm start` starts the service: every other start gives Node the same arguments.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param checkout a folder with this repository at any commit
 * @returns `node`, its arguments, and the program, relative to the folder
 * @throws Error with a sentence where there is no such checkout
 */
export function npmStartOf(checkout: string): string[] {
  let start: string | undefined
  try {
    const { name, scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
      name?: string
      scripts?: { start?: string }
    }
    if (name === 'countersign') start = scripts?.start
  } catch (error) {
    throw new Error(`${checkout} is no checkout of this repository: ${(error as Error).message}`, {
      cause: error,
    })
  }
  if (start === undefined) throw new Error(`${checkout} is no checkout of this repository`)
  return start.replace('exec ', '').split(' ')
}

/** The checkout that this file is part of. */
export const CHECKOUT = join(import.meta.dirname, '..')

export const npmStart: readonly string[] = npmStartOf(CHECKOUT)
