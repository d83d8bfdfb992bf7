// The summary of many pieces of evidence. The command, the page and clients/python report the same for the same files: one table of
// test vectors checks all of them (test/vectors/countersign/summaries.json).
import { printable } from '../text/printable.ts'
import { counted } from '../text/text.ts'
import type { Report, Verdict } from './index.ts'
import { openCounters } from './passkey-counters.ts'

export type Counts = Readonly<Record<Verdict, number>>

export interface Summary extends Counts {
  readonly files: number
  /** A piece that cannot be read counts as unchecked. */
  readonly pieces: number
  /** By the name of the artifact, in the order of the files; `unknown` counts texts that are not evidence. */
  readonly kinds: Readonly<Record<string, Counts>>
  /** Ids of keys that were not given, in the order in which they were needed; 20 at most. */
  readonly missingKeys: readonly string[]
  /** Origins of logs whose description was not given; 20 at most. */
  readonly missingLogs: readonly string[]
  /** Ids of humans' keys that were not given, so that step-ups were not checked, in the order in which they were needed; 20 at most. */
  readonly missingStepUpKeys: readonly string[]
  /** Ids of passkeys whose signature counter does not grow with the time of signing, in the order of the evidence; 20 at most. */
  readonly countersWentBack: readonly string[]
  /** Files of lines that do not end like an export, so that lines may be missing; 20 at most. */
  readonly cutShort: readonly string[]
}

/** A stranger's file may name any number. */
const NAMED_MAX = 20

type Reported = Pick<Report, 'artifact' | 'verdict' | 'checks' | 'missingStepUpKeys' | 'passkeyUses'>

export interface Summing {
  readonly add: (report: Reported) => void
  /** @param cutShort whether a file of lines lacks its end */
  readonly addFile: (name: string, cutShort: boolean) => void
  readonly summary: () => Summary
}

export function openSummary(): Summing {
  const all = { valid: 0, invalid: 0, unchecked: 0 }
  const kinds = new Map<string, Record<Verdict, number>>()
  const missingKeys = new Set<string>()
  const missingLogs = new Set<string>()
  const stepUpKeys = new Set<string>()
  const counters = openCounters()
  const cut = new Set<string>()
  let files = 0
  return {
    add({ artifact, verdict, checks, missingStepUpKeys, passkeyUses }) {
      const ofKind = kinds.get(artifact) ?? { valid: 0, invalid: 0, unchecked: 0 }
      kinds.set(artifact, ofKind)
      all[verdict]++
      ofKind[verdict]++
      for (const { missingKeys: ids = [], missingLog } of checks) {
        for (const id of ids) note(missingKeys, id)
        if (missingLog !== undefined) note(missingLogs, missingLog)
      }
      for (const id of missingStepUpKeys) note(stepUpKeys, id)
      counters.add(passkeyUses)
    },
    addFile(name, cutShort) {
      files++
      if (cutShort) note(cut, name)
    },
    summary: () => ({
      files,
      pieces: all.valid + all.invalid + all.unchecked,
      ...all,
      kinds: Object.fromEntries(kinds),
      missingKeys: [...missingKeys],
      missingLogs: [...missingLogs],
      missingStepUpKeys: [...stepUpKeys],
      countersWentBack: counters.wentBack().slice(0, NAMED_MAX),
      cutShort: [...cut],
    }),
  }
}

function note(names: Set<string>, name: string): void {
  if (names.size < NAMED_MAX) names.add(name)
}

/** 0: all are valid, and each export is whole. 1: any piece is invalid. 2: none is invalid, but not all could be checked, or there are none. */
export function exitCodeOf({ pieces, valid, invalid, cutShort }: Summary): 0 | 1 | 2 {
  if (invalid > 0) return 1
  return pieces > 0 && valid === pieces && cutShort.length === 0 ? 0 : 2
}

/** The summary in lines for people. */
export function summaryLines(summary: Summary): string[] {
  const { files, pieces, kinds } = summary
  return [
    `${counted(pieces, 'piece')} of evidence in ${counted(files, 'file')}: ${countsText(summary)}`,
    ...Object.entries(kinds).map(([kind, counts]) => `  ${kind}: ${countsText(counts)}`),
    ...noteLines(summary),
  ]
}

/** A line for each fact over all files that was not given, may be missing, or looks unusual. */
export function noteLines({
  missingKeys,
  missingLogs,
  missingStepUpKeys,
  countersWentBack,
  cutShort,
}: Summary): string[] {
  const lines: string[] = []
  if (missingKeys.length > 0)
    lines.push(
      `Keys that are not given: ${named(missingKeys)}. Those of approvers are at GET /.well-known/approver-keys.json of the service, any at GET /keys/{keyId}.`,
    )
  if (missingLogs.length > 0)
    lines.push(
      `Logs whose description is not given: ${named(missingLogs)}. It is at GET /.well-known/countersign-log of the service.`,
    )
  if (missingStepUpKeys.length > 0)
    lines.push(
      `Step-up signatures that were not checked, because the keys of these humans are not given: ${named(missingStepUpKeys)}. Everything else about their changes was.`,
    )
  if (countersWentBack.length > 0)
    lines.push(
      `Passkeys whose signature counter does not grow with the time of signing: ${named(countersWentBack)}. A copy of each may have signed; what they signed is valid all the same.`,
    )
  if (cutShort.length > 0)
    lines.push(`Without the last line of a whole export: ${named(cutShort)}. Something may be missing.`)
  return lines.map(printable)
}

function countsText({ valid, invalid, unchecked }: Counts): string {
  return `${valid} valid, ${invalid} INVALID, ${unchecked} cannot be checked`
}

function named(names: readonly string[]): string {
  return `${names.join(', ')}${names.length === NAMED_MAX ? ', …' : ''}`
}
