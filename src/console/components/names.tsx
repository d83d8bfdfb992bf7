// Names of callers and of targets as links, wherever the console shows them.
import { Said } from './basic.tsx'

/** A longer name makes a URL that no server takes. */
const LINKED_MAX = 1_000

export const callerPath = (callerId: string) => `/console/callers/${encodeURIComponent(callerId)}`
export const targetPath = (target: string) => `/console/targets/${encodeURIComponent(target)}`

/** A caller, with a link to its activity. @param apart opens a new tab, where a dialog must not be lost */
export function CallerLink({ id, apart = false }: { readonly id: string; readonly apart?: boolean }) {
  return <NameLink name={id} path={callerPath} apart={apart} />
}

/** The target of an action, with a link to everything that was done to it. */
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
  // A name with a lone surrogate cannot stand in a URL.
  // `genesis` is no caller: the evidence names it as the approver of the state that the service first started with.
  if (name.length > LINKED_MAX || name === 'genesis' || !name.isWellFormed()) return <Said text={name} />
  return (
    <a class="name" href={path(name)} {...(apart ? { target: '_blank', rel: 'noopener' } : {})}>
      <Said text={name} />
    </a>
  )
}
