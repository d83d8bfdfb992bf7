// The thread of `countersign verify` takes a few texts, and gives a short report on each piece of evidence in them.
import { accountsOf, type Account } from '../../formats/verifier/account.ts'
import { readTrusted, type Report, type Trusted } from '../../formats/verifier/index.ts'
import { reportsOn } from '../../formats/verifier/many.ts'
import { nativeEd25519 } from './native-ed25519.ts'

/** The texts that the reader trusts: each thread reads them once. */
export interface TrustTexts {
  readonly jwks: readonly string[]
  readonly log: string | undefined
}

export interface Task {
  readonly texts: readonly string[]
  /** `short`: without the parts that only a whole report shows. */
  readonly detail: 'short' | 'whole'
  readonly withAccounts: boolean
}

export interface Done {
  readonly report: Report
  readonly account: Account | undefined
}

/** @throws Unusable where the keys or the log cannot be read */
export function trustedBy({ jwks, log }: TrustTexts): Trusted {
  return { ...readTrusted(jwks, log === undefined ? {} : { log }), ed25519: nativeEd25519 }
}

/** For each text the reports on its pieces, at least one. */
export function runTask({ texts, detail, withAccounts }: Task, trusted: Trusted): Done[][] {
  return texts.map((text) => {
    const accounts = withAccounts ? accountsOf(text) : []
    return reportsOn(text, trusted).map((report, i) => ({
      report: detail === 'whole' ? report : { ...shortened(report), keys: withAccounts ? report.keys : [] },
      account: accounts[i],
    }))
  })
}

/** A hundred thousand valid reports in full are half a gigabyte of the same sentences between threads. */
function shortened(report: Report): Report {
  const isValid = report.verdict === 'valid'
  return {
    ...report,
    checks: isValid ? [] : report.checks.filter(({ problem }) => problem !== undefined),
    notes: isValid ? [] : report.notes,
    notProven: [],
  }
}
