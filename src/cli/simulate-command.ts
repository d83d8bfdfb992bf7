// countersign simulate: which past decisions of a running service a policy file would flip. Follows POST /sandbox/policies/simulate
// chunk by chunk (decisions §9); nothing in the service changes.
import { setTimeout as delay } from 'node:timers/promises'
import { Compile } from 'typebox/compile'
import type { Static } from 'typebox'
import { compilePolicy } from '../core/policy/check.ts'
import { readYaml } from '../core/cel/yaml.ts'
import { printable } from '../core/printable.ts'
import { ErrorBody } from '../core/schemas/error.ts'
import { PolicySimulation } from '../core/schemas/sandbox.ts'

interface SimulateRequest {
  /** Path of a policy.yaml. */
  readonly file: string
  /** Base address of the service. */
  readonly url: string
  readonly key: string
  readonly since: string | undefined
  readonly until: string | undefined
}

const isChunk = Compile(PolicySimulation)
type Chunk = Static<typeof PolicySimulation>

/**
 * Prints a line for each flip to standard output as it is found, then a summary; the progress goes to standard error.
 * @throws Error with one sentence: the policy's mistakes, or what the service answered
 */
export async function simulateCommand(request: SimulateRequest): Promise<void> {
  // Checked here first, so that a mistake is reported with its file.
  const { document, warnings } = compilePolicy(readYaml(request.file).value, request.file)
  for (const warning of warnings) console.error(`warning: ${printable(warning)}`)
  const progress = openProgress()
  const totals = { examined: 0, decided: 0, flips: 0, skipped: 0 }
  const unverified = new Set<string>()
  const { since, until } = request
  let cursor: string | undefined
  do {
    const chunk = await post(request, { policy: document, since, until, cursor })
    progress.clear()
    for (const flip of chunk.flips) {
      console.log(printable(lineOf(flip)))
      for (const signal of flip.wouldBe.unverified ?? []) unverified.add(signal)
    }
    totals.examined += chunk.progress.examined
    totals.decided += chunk.progress.decided
    totals.flips += chunk.flips.length
    totals.skipped += chunk.skipped
    progress.show(chunk.progress.share, totals.examined)
    cursor = chunk.next
  } while (cursor !== undefined)
  progress.clear()
  const { examined, decided, flips, skipped } = totals
  console.log(
    `${flips} of ${decided} past decisions under ${document.policyId} would flip; ${skipped} were never decided, ${examined} transactions examined.`,
  )
  if (unverified.size > 0)
    console.log(`Taken as declared, never verified: ${[...unverified].toSorted().join(', ')}.`)
}

function lineOf({ businessTransactionId, createdAt, was, wouldBe }: Chunk['flips'][number]): string {
  const { outcome, matchedRuleId, reason } = wouldBe
  return `${createdAt} ${businessTransactionId} ${was.outcome} -> ${outcome} (${matchedRuleId ?? 'no rule'}) ${reason}`
}

const ATTEMPTS = 10

async function post({ url, key }: SimulateRequest, body: object): Promise<Chunk> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${url.replace(/\/+$/, '')}/sandbox/policies/simulate`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
    })
    const answer: unknown = await response.json().catch(() => undefined)
    if (response.status === 200 && isChunk.Check(answer)) return answer
    if (response.status !== 503 || attempt === ATTEMPTS)
      throw new Error(printable(refusal(response.status, answer)))
    // Live traffic goes first.
    await delay(Math.min(Number(response.headers.get('retry-after') ?? 1), 60) * 1_000)
  }
}

const isError = Compile(ErrorBody)

function refusal(status: number, answer: unknown): string {
  return `the service answered ${status}: ${isError.Check(answer) ? answer.error : 'no answer of this service'}`
}

const BAR_CHARACTERS = 30

/** One line that is written over on a terminal; a line for each tenth anywhere else. */
function openProgress() {
  const { isTTY } = process.stderr
  let printed = 0
  return {
    show(share: number, examined: number): void {
      const done = Math.floor(share * BAR_CHARACTERS)
      const bar = `[${'#'.repeat(done)}${'.'.repeat(BAR_CHARACTERS - done)}] ${Math.floor(share * 100)}% ${examined} examined`
      if (isTTY) process.stderr.write(bar)
      else if (Math.floor(share * 10) > printed) process.stderr.write(`${bar}\n`)
      printed = Math.max(printed, Math.floor(share * 10))
    },
    clear(): void {
      if (isTTY) process.stderr.write('\r\u001b[K')
    },
  }
}
