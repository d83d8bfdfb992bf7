// Texts that are no bundle at all.
import type { Cases } from '../case.ts'
import { put } from '../edit.ts'
import { bundle, plain } from './plan.ts'

export function unusableBundles(all: Cases): void {
  const good = bundle(plain())
  for (const [id, what, evidence] of [
    ['version', 'The bundle is of another version.', put(good, 'bundle', 'countersign/2')],
    ['version-true', 'The version of the bundle is no text.', put(good, 'bundle', true)],
    ['several-kinds', 'It claims to be a record too.', { ...good, trustRecordId: 'x' }],
    ['list', 'It is a list of bundles.', [good]],
  ] as const)
    all.addUnusable(`unusable-${id}`, what, JSON.stringify(evidence))
  all.addUnusable(
    'unusable-duplicate-key',
    'A member stands there twice.',
    JSON.stringify(good).replace('"policy":', '"policy":"x","policy":'),
  )
}
