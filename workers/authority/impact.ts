// The impact report beside a step-up (design notes): the hash that the human signed is of this report, and this report is of this change.
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { IMPACT_REPORT_BYTES_MAX } from '../../src/formats/impact-report.ts'
import type { ChangeKindName } from '../../src/formats/schemas/governance.ts'
import type { ImpactReport } from '../../src/formats/schemas/impact-report.ts'
import { sha256Hex } from '../../src/store/sha256.ts'

interface Impact {
  readonly change: {
    readonly kind: ChangeKindName
    readonly changeId: string
    readonly changeHash: string
  }
  /** As the step-up signs it. */
  readonly impactHash: string | undefined
  readonly report: ImpactReport | undefined
}

/** @returns what is wrong, as the end of a sentence; undefined where the two fit, and where there is neither */
export function impactProblem({ change, impactHash, report }: Impact): string | undefined {
  if (impactHash === undefined && report === undefined) return undefined
  if (change.kind !== 'policy') return 'only the change of a policy has an impact report'
  if (report === undefined) return 'the impactReport that its impactHash is of is missing'
  if (impactHash === undefined) return 'it has no impactHash, and an impactReport is sent with it'
  if (report.changeId !== change.changeId || report.changeHash !== change.changeHash)
    return 'the impactReport is of another change'
  const text = canonicalize(report)
  if (Buffer.byteLength(text) > IMPACT_REPORT_BYTES_MAX)
    return `the impactReport is longer than ${IMPACT_REPORT_BYTES_MAX} bytes of canonical JSON`
  return sha256Hex(text) === impactHash ? undefined : 'its impactHash is not that of the impactReport'
}
