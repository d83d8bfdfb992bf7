// Names that lead somewhere: of callers and of targets, wherever the console shows one.
import { Said } from './basic.tsx'

/** A longer name makes an address that no server takes. */
const LINKED_MAX = 1_000

export const callerPath = (callerId: string) => `/console/callers/${encodeURIComponent(callerId)}`
export const targetPath = (target: string) => `/console/targets/${encodeURIComponent(target)}`

/** A caller, with the way to what it did. */
export function CallerLink({ id }: { readonly id: string }) {
  return <NameLink name={id} path={callerPath} />
}

/** What an action was done to, with the way to everything that was done to it. */
export function TargetLink({ name }: { readonly name: string }) {
  return <NameLink name={name} path={targetPath} />
}

function NameLink({ name, path }: { readonly name: string; readonly path: (name: string) => string }) {
  // A lone surrogate has no address.
  if (name.length > LINKED_MAX || !name.isWellFormed()) return <Said text={name} />
  return (
    <a class="name" href={path(name)}>
      <Said text={name} />
    </a>
  )
}
