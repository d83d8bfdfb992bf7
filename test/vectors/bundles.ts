// Bundles among the published vectors: one execution with what shows that it was allowed, and the proofs that the log holds it.
import { changedBundles } from './bundles/changed.ts'
import { groupBundles } from './bundles/groups.ts'
import { wrongLogs } from './bundles/logs.ts'
import { wrongProofs } from './bundles/proofs.ts'
import { withOtherTrust } from './bundles/trusted.ts'
import { unusableBundles } from './bundles/unusable.ts'
import { validBundles } from './bundles/valid.ts'
import { Cases, type Case } from './case.ts'

export function bundleCases(): Case[] {
  const all = new Cases('bundle')
  for (const add of [
    validBundles,
    withOtherTrust,
    changedBundles,
    groupBundles,
    wrongLogs,
    wrongProofs,
    unusableBundles,
  ])
    add(all)
  return all.cases
}
