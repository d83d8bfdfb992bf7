// The sources of a proposed policy's text: typing, a version that is in effect, or a file.
import { useRef, useState } from 'preact/hooks'
import type { PolicySummary } from '../../formats/schemas/policy-version.ts'
import { oneLine } from '../text.ts'

/** A larger file is not read. */
const FILE_BYTES_MAX = 262_144

/** The parts of a proposal that somebody has typed or chosen. */
export interface Draft {
  readonly text: string
  /** The text of a cases.yaml; '' for none. */
  readonly cases: string
  readonly retires: readonly string[]
  readonly reason: string
}

export const NOTHING: Draft = { text: '', cases: '', retires: [], reason: '' }

export interface Version {
  readonly name: string
  readonly version: string
}

export function BeginWith({
  versions,
  from,
  isEmpty,
  onBegin,
}: {
  readonly versions: readonly PolicySummary[]
  readonly from: Version | undefined
  readonly isEmpty: boolean
  readonly onBegin: (of: Version) => void
}) {
  const offered = versions.filter(({ status }) => status === 'APPROVED')
  const [chosen, setChosen] = useState(from === undefined ? '' : `${from.name} ${from.version}`)
  const of = offered.find(({ name, version }) => `${name} ${version}` === chosen) ?? offered[0]
  if (of === undefined) return null
  return (
    <>
      <label class="filter">
        Begin with
        <select
          value={`${of.name} ${of.version}`}
          onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        >
          {offered.map(({ name, version }) => (
            <option key={`${name} ${version}`} value={`${name} ${version}`}>
              {name} {version}
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={() => onBegin(of)}>
        {isEmpty ? 'Begin' : 'Replace the text'}
      </button>
    </>
  )
}

/** A button that opens the browser's file dialog; the field itself cannot be styled. */
export function FileButton({
  label,
  onFile,
}: {
  readonly label: string
  readonly onFile: (file: File | undefined) => void
}) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <button type="button" onClick={() => field.current?.click()}>
        {label}
      </button>
      <input
        ref={field}
        type="file"
        hidden
        aria-label={label}
        accept=".yaml,.yml,.json,application/yaml,text/plain"
        onChange={({ currentTarget }) => {
          onFile(currentTarget.files?.[0])
          // Lets the reader open the same file again after a correction.
          currentTarget.value = ''
        }}
      />
    </>
  )
}

/** @returns the text of a file that somebody chose, or why the file cannot be read */
export async function textOf(file: File): Promise<{ readonly text?: string; readonly problem?: string }> {
  if (file.size > FILE_BYTES_MAX)
    return {
      problem: `${oneLine(file.name)} has ${file.size} bytes, and a file may have at most ${FILE_BYTES_MAX}.`,
    }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer()) }
  } catch {
    return { problem: `${oneLine(file.name)} cannot be read as UTF-8 text.` }
  }
}

/** Selects a line of a text, counted from 1, and brings it into view. */
export function selectLine(field: HTMLTextAreaElement | null, line: number): void {
  if (field === null) return
  const lines = field.value.split('\n')
  const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0)
  field.focus()
  field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
  const lineHeight = field.scrollHeight / Math.max(lines.length, 1)
  field.scrollTop = Math.max(0, (line - 4) * lineHeight)
}

/** @param taken versions that exist, or that a change proposes @returns the text with the next minor version that is not taken */
export function withNextVersion(text: string, version: string, taken: readonly string[]): string {
  return text.replace(/^policyVersion:.*$/m, `policyVersion: ${nextVersion(version, taken)}`)
}

/** @param version such as 1.0.0 @param taken versions that exist, or that a change proposes @returns the next minor version that is not taken */
function nextVersion(version: string, taken: readonly string[]): string {
  const [major = 1, minor = 0] = version.split('.').map(Number)
  for (let next = minor + 1; ; next++) if (!taken.includes(`${major}.${next}.0`)) return `${major}.${next}.0`
}
