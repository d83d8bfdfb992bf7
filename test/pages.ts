// A checkout as it is before `prepare` has made its pages.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BUILT } from '../src/server/pages/built.ts'
import { cleanUpAfterEachFile } from './run/cleanup.ts'

const ROOT = join(import.meta.dirname, '..')
const CACHE = join(ROOT, '.cache')
const PAGES = resolve(fileURLToPath(BUILT))

const folders: string[] = []
cleanUpAfterEachFile(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** @param names of what it holds beside `src` and what builds read; its packages are those of this checkout */
export function aCheckoutWithoutPages(...names: readonly string[]): string {
  const folder = aFolderWithPackages()
  for (const name of ['package.json', 'tsconfig.json', 'LICENSE', 'src', ...names])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter: (path) => path !== PAGES })
  return folder
}

/** In the checkout, since hard links do not cross file systems: Node finds a package that is missing there in the checkout. */
export function aFolderWithPackages(): string {
  mkdirSync(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'checkout-'))
  folders.push(folder)
  execFileSync('cp', ['-al', join(ROOT, 'node_modules'), folder])
  // npm writes this one in place, and it is the checkout's too.
  rmSync(join(folder, 'node_modules', '.package-lock.json'), { force: true })
  return folder
}
