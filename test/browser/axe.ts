// Lists the faults that axe finds in a page. None of our pages has frames: the mode that searches frames opens another page each time. Only faults
// are requested: to describe each of the thousands of correct elements takes more time than all the rules.
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/**
 * @param without.elements a selector of elements that are not looked at
 * @param without.rules ids of rules that are not applied
 * @returns for each element at fault the rule, where it is, and what would mend it; empty where all is well
 */
export async function axeFindings(
  page: Page,
  without: { readonly elements?: string; readonly rules?: string[] } = {},
): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ['violations'] })
  if (without.elements !== undefined) axe.exclude(without.elements)
  if (without.rules !== undefined) axe.disableRules(without.rules)
  const { violations } = await axe.analyze()
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary ?? ''}`),
  )
}
