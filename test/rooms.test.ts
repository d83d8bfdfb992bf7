// Folders of one room do not import each other both ways: which of two is lower has an answer (docs/contributing.md).
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

/** Two folders that each need the other, and why they do. */
const KNOWN = {
  'workers/evidence ⇄ workers/execute':
    'an execution writes audit events, and a receipt that was refused is issued later',
  'workers/execute ⇄ workers/verifiers':
    'a policy verifies state, some of it by a connector under a release of its own',
  'workers/intents ⇄ workers/webhooks':
    'a provider’s word closes an intent, whether it comes by webhook or by read-back',
}

/** The folder below a room, such as `src/core/signing`; undefined for a file that stands in the room itself. */
function folderOf(file: string): string | undefined {
  const names = file.split('/')
  const depth = names[0] === 'workers' ? 2 : 3
  return names.length > depth ? names.slice(0, depth).join('/') : undefined
}

test('no two folders of a room import each other but those that are known', () => {
  const imports = new Set<string>()
  for (const file of globSync('{src,workers}/**/*.{ts,tsx}', { cwd: ROOT })) {
    const from = folderOf(file)
    for (const [, specifier] of readFileSync(join(ROOT, file), 'utf8').matchAll(
      /(?:from|import) *\(?'(\.[^']+)'/g,
    )) {
      const to = folderOf(normalize(join(dirname(file), specifier!)))
      if (from !== undefined && to !== undefined && from !== to && dirname(from) === dirname(to))
        imports.add(`${from} ${to}`)
    }
  }
  const pairs = [...imports].flatMap((pair) => {
    const [from, to] = pair.split(' ') as [string, string]
    return from < to && imports.has(`${to} ${from}`) ? [`${from} ⇄ ${to}`] : []
  })
  expect(pairs.toSorted()).toEqual(Object.keys(KNOWN).toSorted())
})
