// countersign simulate: shows which past decisions of a running service a policy file, or a proposed change, would flip, and which executions
// the end of versions would have refused. Follows POST /sandbox/policies/simulate chunk by chunk (decisions §9); nothing in the service changes.
import { writeFileSync } from 'node:fs'
import { readYaml } from '../core/cel/yaml.ts'
import {
  addChunk,
  alsoFlipped,
  flipLine,
  impactReport,
  onlyRetired,
  reservations,
  retiredLine,
  simulationOf,
  undecidedText,
  type Found,
  type ProposedPolicy,
} from '../formats/impact-report.ts'
import { canonicalize } from '../formats/json/canonical.ts'
import { shapeOf } from '../core/json/shape.ts'
import { compilePolicy } from '../core/policy/check.ts'
import { inMoney } from '../core/policy/shown.ts'
import { printable } from '../formats/text/printable.ts'
import { counted } from '../formats/text/text.ts'
import type { ImpactReport } from '../formats/schemas/impact-report.ts'
import type { PolicyDocument } from '../formats/schemas/policy.ts'
import { PolicySimulation } from '../formats/schemas/sandbox.ts'
import { sha256Hex } from '../store/sha256.ts'
import { readChange, type ShownChange } from './approver.ts'
import type { Given } from './command.ts'
import type { simulate as spec } from './commands.ts'
import { serviceOf } from './profile.ts'
import { post, shapedAnswer, type ServiceAt } from './service.ts'

type SimulateRequest = Given<typeof spec>

const simulation = shapeOf(PolicySimulation)

/**
 * Prints a line for each flip to standard output as it is found, then a summary; on a terminal the progress goes to standard error.
 * @throws Error with one sentence: what is wrong with the arguments or the policy, or the service's answer
 */
export async function simulateCommand(given: SimulateRequest): Promise<void> {
  const { file, policy: policyId, retires, change: source, report, since, until } = given
  const request = { ...serviceOf({ ...given, apiKey: given.key ?? given.apiKey }), since, until }
  if (source === undefined) {
    if (report !== undefined) throw new Error('--report needs --change: a report is of a change.')
    const policy = file === undefined ? undefined : policyIn(file)
    await simulate(request, { policy, policyId, retires })
    return
  }
  if (file !== undefined) throw new Error('Give either a policy.yaml or --change.')
  const made = await impactOf(readPolicyChange(source), request)
  if (report === undefined) return
  const text = canonicalize(made)
  // Without a line end: then the hash of the file is the hash of the report.
  writeFileSync(report, text)
  const { flips, retired, approvedToRejected, rejectedToApproved, refusedAsRetired } = made
  const isWhole =
    flips.length === approvedToRejected + rejectedToApproved && retired.length === refusedAsRetired
  const listed = isWhole ? '' : ` It lists the newest ${flips.length + retired.length} of them.`
  console.log(`The report is ${report}, its hash ${sha256Hex(text)}.${listed}`)
}

interface Simulating extends ServiceAt {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** Takes lines of text: each finding as it is found, and a summary at the end. */
interface Print {
  readonly finding: (line: string) => void
  readonly summary: (line: string) => void
}

/** A change of a policy that may be signed. */
export type PolicyChange = ShownChange & { readonly proposed: ProposedPolicy }

/**
 * Simulates a change of a policy.
 * @param print left out: all goes to standard output
 * @returns the report that a step-up can cover
 */
export async function impactOf(
  change: PolicyChange,
  simulating: Simulating,
  print?: Print,
): Promise<ImpactReport> {
  const found = await simulate(simulating, simulationOf(change.proposed), print)
  return impactReport(change, found, new Date().toISOString())
}

/**
 * Reads a policy file. It is checked here first, so that a mistake is reported with its file.
 * @param options.warns whether warnings go to standard error
 */
export function policyIn(file: string, { warns = true }: { readonly warns?: boolean } = {}): PolicyDocument {
  const { value, positionOf } = readYaml(file)
  const { document, warnings } = compilePolicy(value, file, { positionOf })
  for (const warning of warns ? warnings : []) console.error(`warning: ${printable(warning)}`)
  return document
}

function readPolicyChange(source: string): PolicyChange {
  const change = readChange(source)
  if (change['kind'] !== 'policy') throw new Error('--change must be the change of a policy.')
  return change as PolicyChange
}

interface Simulated {
  readonly policy?: { readonly policyId: string } | undefined
  readonly policyId?: string | undefined
  readonly retires?: readonly string[] | undefined
}

async function simulate(
  request: Simulating,
  simulated: Simulated,
  { finding, summary }: Print = { finding: console.log, summary: console.log },
): Promise<Found> {
  const progress = openProgress()
  const unverified = new Set<string>()
  const { since, until } = request
  let found: Found | undefined
  let cursor: string | undefined
  do {
    const json = { ...simulated, since, until, cursor }
    const chunk = shapedAnswer(simulation, await post(request, '/sandbox/policies/simulate', { json }))
    found = addChunk(found, chunk)
    progress.clear()
    for (const flip of chunk.flips) {
      finding(printable(flipLine(flip)))
      for (const signal of flip.wouldBe.unverified ?? []) unverified.add(signal)
    }
    for (const one of onlyRetired(chunk)) finding(printable(retiredLine(one)))
    progress.show(found.share, found.examined)
    cursor = chunk.next
  } while (cursor !== undefined)
  progress.clear()
  for (const sentence of summaryOf(found, simulated)) summary(printable(sentence))
  for (const sentence of reservations(found)) summary(printable(sentence))
  if (unverified.size > 0)
    summary(printable(`Taken as declared, never verified: ${[...unverified].toSorted().join(', ')}.`))
  return found
}

function summaryOf(found: Found, { policy, retires }: Simulated): string[] {
  const { examined, decided, approvedToRejected, rejectedToApproved, refusedAsRetired, sums } = found
  const flips = approvedToRejected + rejectedToApproved
  return [
    ...(policy === undefined
      ? []
      : [
          `${flips} of ${decided} past decisions under ${policy.policyId} would flip: ${approvedToRejected} approved would be rejected${inMoney(sums.toRejected)}, ${rejectedToApproved} rejected would be approved${inMoney(sums.toApproved)}.`,
        ]),
    ...(retires === undefined
      ? []
      : [
          `${refusedAsRetired} of ${decided} were approved under ${retires.join(', ')}, and sent so again they would be refused as retired${inMoney(sums.retired)}.${alsoFlipped(found)}`,
        ]),
    `${counted(examined, 'transaction')} of any policy examined.${undecidedText(found)}`,
  ]
}

const BAR_CHARACTERS = 30

/** A line that is overwritten, and removed at the end; only on a terminal: for a file it would be useless. */
function openProgress() {
  const { isTTY } = process.stderr
  return {
    show(share: number, examined: number): void {
      const done = Math.floor(share * BAR_CHARACTERS)
      const bar = `[${'#'.repeat(done)}${'.'.repeat(BAR_CHARACTERS - done)}] ${Math.floor(share * 100)}% ${examined} examined`
      if (isTTY) process.stderr.write(bar)
    },
    clear(): void {
      if (isTTY) process.stderr.write('\r\u001b[K')
    },
  }
}
