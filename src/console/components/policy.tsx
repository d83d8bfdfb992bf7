// A policy version and its page.
import { Said } from './basic.tsx'

interface Version {
  readonly name: string
  readonly version: string
}

/** The path at the service; the page is below `/console`. */
export function policyPath({ name, version }: Version): string {
  return `/policies/${encodeURIComponent(name)}/${encodeURIComponent(version)}`
}

export function PolicyLink({ to: { name, version } }: { readonly to: Version }) {
  return (
    <a href={`/console${policyPath({ name, version })}`}>
      <Said text={`${name} ${version}`} />
    </a>
  )
}
