// Makes what browsers and auditors load, in src/server/pages/built/: the offline verifiers, the offline signer and the console. `npm run pages`,
// and `npm ci` by its script `prepare`.
import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BUILT } from '../src/server/pages/built.ts'
import { buildConsole } from './console/build.ts'
import { buildSigner } from './signer-page/build.ts'
import { buildPage, buildVerifier } from './verifier-page/build.ts'

const FOLDER = resolve(fileURLToPath(BUILT))

/** What a person saves, by its path in the folder, and the name under which a browser or the handbook saves it. */
export const savedAs = {
  'verifier.html': 'countersign-verifier.html',
  'countersign-verify.mjs': 'countersign-verify.mjs',
  'signer.html': 'countersign-signer.html',
} as const

/** @returns the texts by path in the folder; the same sources give the same bytes */
export async function buildPages(): Promise<Readonly<Record<string, string>>> {
  return {
    'verifier.html': await buildPage(),
    'countersign-verify.mjs': await buildVerifier(),
    'signer.html': await buildSigner(),
    ...Object.fromEntries(Array.from(await buildConsole(), ([name, text]) => [`console/${name}`, text])),
  }
}

/** Writes the folder whole or not at all: where it is there, nothing of it is missing. */
export async function writePages(): Promise<void> {
  const pages = await buildPages()
  const made = join(dirname(FOLDER), `built.${process.pid}`)
  for (const [path, text] of Object.entries(pages)) {
    mkdirSync(dirname(join(made, path)), { recursive: true })
    writeFileSync(join(made, path), text)
  }
  rmSync(FOLDER, { recursive: true, force: true })
  renameSync(made, FOLDER)
}

/** @returns the text of a built file, by its path in the folder */
export function readPage(path: string): string {
  return readFileSync(join(FOLDER, path), 'utf8')
}

/** @returns the texts of the folder by path in it */
export function readPages(): Readonly<Record<string, string>> {
  const entries = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(paths.map((path) => [relative(FOLDER, path), readFileSync(path, 'utf8')]))
}

if (import.meta.main) {
  await writePages()
  // As sha256sum prints and checks them: the notes of a release have these lines.
  for (const [path, name] of Object.entries(savedAs))
    console.log(`${hash('sha256', readPage(path))}  ${name}`)
}
