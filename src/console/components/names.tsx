// Names that lead somewhere: of callers and of targets, wherever the console shows one.
import { Said } from './basic.tsx'

/** A longer name makes an address that no server takes. */
const LINKED_MAX = 1_000

export const callerPath = (callerId: string) => `/console/callers/${encodeURIComponent(callerId)}`
export const targetPath = (target: string) => `/console/targets/${encodeURIComponent(target)}`

/** A caller, with the way to what it did. @param apart in a tab of its own, where a dialog is not to be lost */
export function CallerLink({ id, apart = false }: { readonly id: string; readonly apart?: boolean }) {
  return <NameLink name={id} path={callerPath} apart={apart} />
}

/** What an action was done to, with the way to everything that was done to it. */
export function TargetLink({ name }: { readonly name: string }) {
  return <NameLink name={name} path={targetPath} />
}

function NameLink({
  name,
  path,
  apart = false,
}: {
  readonly name: string
  readonly path: (name: string) => string
  readonly apart?: boolean
}) {
  // A lone surrogate has no address.
  // Nobody is called genesis: so the evidence names who approved what the service first started with.
  if (name.length > LINKED_MAX || name === 'genesis' || !name.isWellFormed()) return <Said text={name} />
  return (
    <a class="name" href={path(name)} {...(apart ? { target: '_blank', rel: 'noopener' } : {})}>
      <Said text={name} />
    </a>
  )
}
