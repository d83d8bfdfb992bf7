// One of the steps of an execution, in an ordered list.
import type { ComponentChildren } from 'preact'
import { exact } from '../text.ts'
import { Time } from './basic.tsx'

export function Step({
  name,
  at,
  children,
}: {
  readonly name: string
  readonly at: string
  readonly children?: ComponentChildren
}) {
  return (
    <li>
      <strong>{name}</strong> {children} <Time at={at} /> <span class="exact">{exact(at)}</span>
    </li>
  )
}
