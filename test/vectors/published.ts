// The published cases in their files: whole, or as a patch of another case, which takes a third of the bytes and shows what was changed.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Case } from './case.ts'
import type { Json } from './edit.ts'
import { difference, patched, type Operation } from './patch.ts'

export const folder = join(import.meta.dirname, 'countersign')

type Whole = Extract<Case, { readonly evidence: Json }>

/** A case whose evidence is that of the case `of`, an earlier one of the file that has it whole, after the patch. */
interface Patched extends Omit<Whole, 'evidence'> {
  readonly of: string
  readonly patch: readonly Operation[]
}

/** A patch is published where it takes less than this share of the evidence. */
const SHARE_MAX = 3 / 4

/** @returns the cases as they are published; those that have no evidence, such as texts, as they are */
export function packed(cases: readonly object[]): object[] {
  const bases: Whole[] = []
  return cases.map((given) => {
    if (!isWhole(given)) return given
    const { evidence } = given
    const text = JSON.stringify(evidence)
    const [shortest] = bases
      .map((base) => ({ base, patch: difference(base.evidence, evidence) }))
      .map((one) => ({ ...one, length: JSON.stringify(one.patch).length }))
      .toSorted((a, b) => a.length - b.length)
    if (
      shortest !== undefined &&
      shortest.length < text.length * SHARE_MAX &&
      // Members in another order, for one, are no difference to a patch.
      JSON.stringify(patched(shortest.base.evidence, shortest.patch)) === text
    )
      return inPlaceOf('evidence', given, { of: shortest.base.id, patch: shortest.patch })
    bases.push(given)
    return given
  })
}

/**
 * @param name of the file, without its ending
 * @returns its cases, each with its evidence whole
 * @throws Error for a file with fewer than `least` cases: an empty run proves nothing
 */
export function readCases<T extends object = Case>(name: string, least = 10): T[] {
  const file = readFileSync(join(folder, `${name}.json`), 'utf8')
  const { cases } = JSON.parse(file) as { cases: (T | Patched)[] }
  if (cases.length < least) throw new Error(`${name}.json holds ${cases.length} cases`)
  const bases = new Map<string, Json>()
  return cases.map((given) => {
    if (isWhole(given)) bases.set(given.id, given.evidence)
    if (!isPatched(given)) return given
    const { of, patch } = given
    const base = bases.get(of)
    if (base === undefined) throw new Error(`${given.id} is a patch of ${of}, which is not before it`)
    return inPlaceOf('of', inPlaceOf('patch', given, {}), { evidence: patched(base, patch) }) as T
  })
}

/** @returns a copy with other members in the place of one: a reader of a file meets what was done before the verdict */
function inPlaceOf(name: string, given: object, members: object): object {
  const entries = Object.entries(given) as [string, unknown][]
  return Object.fromEntries(
    entries.flatMap((entry) => (entry[0] === name ? Object.entries(members) : [entry])),
  )
}

/** @throws Error where the file has no such case, or the case is a text */
export function evidenceOf(name: string, id: string): Json {
  const found = readCases(name).find((one) => one.id === id)
  if (found === undefined || !isWhole(found)) throw new Error(`${name}.json has no evidence ${id}`)
  return found.evidence
}

function isWhole(given: object): given is Whole {
  return 'evidence' in given
}

function isPatched(given: object): given is Patched {
  return 'patch' in given
}
