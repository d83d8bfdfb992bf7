// The licences of the packages in a bundle, which ask to stand with it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/**
 * @param inputs paths of the files in a bundle, as esbuild's metafile names them
 * @returns a comment for each package, sorted
 */
export function licenceTexts(inputs: readonly string[]): string[] {
  const packages = inputs.flatMap((input) => {
    const [folder] = /^node_modules\/(@[^/]+\/)?[^/]+/.exec(input) ?? []
    return folder ?? []
  })
  return [...new Set(packages)].toSorted().map(licence)
}

function licence(folder: string): string {
  const text = readFileSync(join(ROOT, folder, 'LICENSE'), 'utf8').trim()
  if (text.includes('*/')) throw new Error(`the licence of ${folder} cannot stand in a comment`)
  return `\n/*\n${folder}\n\n${text}\n*/\n`
}
