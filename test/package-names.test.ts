// No registry has packages of this project, so a command that names one would install and run what somebody else has put there.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

/** Programs that fetch by name, with what they are told to fetch. */
const FETCHES =
  /\b(?:npm (?:i|install|add|exec|x|view|create)|(?:pnpm|yarn|bun)(?: add| install| dlx| x)|npx|bunx|pip3?(?:\.exe)? install|python3? -m pip install|pipx (?:install|run)|uvx|uv (?:add|tool install|tool run)|poetry add|conda install|docker (?:pull|run))\b([^\n`;|&)#]*)/g

/** Finds what a text would fetch by a name of ours; a path, a packed file and a clone's own `npx --no-install` fetch nothing. */
function fetchedNames(text: string): string[] {
  const scoped = text.match(/@countersign\/[\w/-]*/g) ?? []
  const named = Array.from(text.matchAll(FETCHES), ([command, rest = '']) =>
    command.includes('--no-install')
      ? []
      : rest
          .split(/[\s'",]+/)
          .filter((word) => /^countersign(?:[-_]\w+)*(?:(?:@|==|>=|~=|:|\[).*)?$/i.test(word)),
  )
  return [...scoped, ...named.flat()]
}

describe('what fetches a package of ours by name', () => {
  test.each([
    ['npm i countersign', ['countersign']],
    ['npm install --save-exact countersign-client@0.4.0', ['countersign-client@0.4.0']],
    ['pnpm add countersign-client', ['countersign-client']],
    ['npx countersign verify x.json', ['countersign']],
    ['npx --yes countersign-client', ['countersign-client']],
    ['pip install countersign', ['countersign']],
    ['python3 -m pip install -U countersign_client==1', ['countersign_client==1']],
    ['uvx countersign-verify', ['countersign-verify']],
    ["import x from '@countersign/client'", ['@countersign/client']],
    ['docker pull countersign:latest', ['countersign:latest']],
  ])('is found: %s', (text, names) => expect(fetchedNames(text)).toEqual(names))

  test.each([
    'npm install <path of the clone>/clients/typescript/countersign-client-0.4.0.tgz',
    'npm install ./countersign-client-0.4.0.tgz',
    'pip install ./clients/python',
    'npx --no-install countersign verify x.json',
    "import { createCountersign } from 'countersign-client'",
    'npm ci && bin/countersign verify record.json',
  ])('is not found: %s', (text) => expect(fetchedNames(text)).toEqual([]))

  test('is nowhere in the project', () => {
    const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
      .split('\0')
      .filter((file) => file !== '' && !/package-names\.test\.ts$|package-lock\.json$/.test(file))
    expect(files.length).toBeGreaterThan(500)
    const found = files.flatMap((file) =>
      fetchedNames(readFileSync(join(ROOT, file), 'utf8')).map((name) => `${file}: ${name}`),
    )
    expect(found).toEqual([])
  })

  test('and cannot be published by mistake', () => {
    for (const file of ['package.json', 'clients/typescript/package.json'])
      expect(JSON.parse(readFileSync(join(ROOT, file), 'utf8'))).toMatchObject({ private: true })
    expect(readFileSync(join(ROOT, 'clients/python/pyproject.toml'), 'utf8')).toContain(
      'Private :: Do Not Upload',
    )
  })
})
