// Fills the catalogue, a piece at a time: src/core/catalogue/follow.ts.
import type { Filled } from '../catalogue/follow.ts'
import { ALONE, ONE, ownWork } from './operation.ts'

/** `days` is CATALOGUE_DAYS. */
export const fillCatalogue = ownWork<{ readonly days: number }, Filled>({
  lane: 'background',
  ...ALONE,
  ...ONE,
})
