// The Dockerfile as its instructions, and the folder that its COPYs make of this checkout.
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BUILT } from '../../src/server/pages/built.ts'

export const ROOT = join(import.meta.dirname, '..', '..')
const PAGES = resolve(fileURLToPath(BUILT))

export interface Instruction {
  /** FROM, RUN, COPY, … */
  readonly name: string
  readonly rest: string
}

/** Reads the instructions of each stage in order. */
export function readDockerfile(): Instruction[][] {
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').replace(/^#.*\n/gm, '')
  const stages: Instruction[][] = []
  for (const line of text.replace(/\\\n\s*/g, '').split('\n')) {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (name === 'FROM') stages.push([])
    if (name !== '') stages.at(-1)?.push({ name, rest })
  }
  return stages
}

/** Lists what a stage copies from this checkout: pairs of source and destination below the working directory. */
export function copied(stage: readonly Instruction[]): [from: string, to: string][] {
  return stage
    .filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from='))
    .flatMap(({ rest }) => {
      const words = rest.split(' ')
      const to = words.pop() ?? ''
      return words.map((from): [string, string] => [from, to.endsWith('/') ? join(to, from) : to])
    })
}

/** Does a stage's COPYs into a folder, without what .dockerignore keeps from the builder. */
export function copyInto(folder: string, stage: readonly Instruction[]): void {
  for (const [from, to] of copied(stage)) {
    mkdirSync(dirname(join(folder, to)), { recursive: true })
    cpSync(join(ROOT, from), join(folder, to), { recursive: true, filter: (path) => path !== PAGES })
  }
}
