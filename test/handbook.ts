// The chapters of docs/handbook for tests that do what they tell a reader to do.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const HANDBOOK = join(ROOT, 'docs', 'handbook')

/** Text by file name. */
export const chapters: ReadonlyMap<string, string> = new Map(
  readdirSync(HANDBOOK)
    .filter((file) => file.endsWith('.md'))
    .map((file) => [file, readFileSync(join(HANDBOOK, file), 'utf8')] as const),
)

/** The texts of a chapter's fenced blocks of one language. */
export function blocks(file: string, language: string): string[] {
  return blocksOf(chapters.get(file) ?? '', language)
}

/** Those of one section, by its heading of the second level. */
export function sectionBlocks(file: string, heading: string, language: string): string[] {
  const sections = (chapters.get(file) ?? '').split(/^## /m)
  return blocksOf(sections.find((section) => section.startsWith(`${heading}\n`)) ?? '', language)
}

function blocksOf(text: string, language: string): string[] {
  const fenced = text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)
  return Array.from(fenced).flatMap(([, name, block = '']) => (name === language ? [block] : []))
}

/** A script as it is shown, but against the service under test, with the commands and files of this checkout. */
export function forHere(script: string, url: string): string {
  return (
    script
      // Nobody sits at the terminal of a test: what asks before it signs is answered.
      .replaceAll(/bin\/countersign(?= changes (?:approve|reject) )/g, 'echo y | bin/countersign')
      .replaceAll('http://127.0.0.1:3000', url)
      .replaceAll(/bin\/countersign(?= )/g, `'${process.execPath}' '${join(ROOT, 'src', 'cli', 'index.ts')}'`)
      .replaceAll(
        'npx --no-install yaml',
        `'${process.execPath}' '${join(ROOT, 'node_modules', 'yaml', 'bin.mjs')}'`,
      )
      .replaceAll('npx node examples/', `'${process.execPath}' '${ROOT}'/examples/`)
      .replaceAll(/ policies(?=[/ ])/g, ` '${join(ROOT, 'policies')}'`)
  )
}
