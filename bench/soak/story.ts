// What a story of the soak is: a few calls that belong together, and the routes that they go to. The mix is the list of all of them.
import type { Client } from 'pg'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import type { RouteName } from '../../src/server/routes/index.ts'
import type { Human } from '../calls.ts'
import type { Client as ServiceClient, Elsewhere } from './client.ts'

export interface Story {
  readonly name: string
  readonly routes: readonly (RouteName | Elsewhere)[]
  /** How often it is told for each of the others; or each so many seconds, where it is rare or costs much. */
  readonly pace: { readonly weight: number } | { readonly everySeconds: number }
  /** fails where something was not as it must be */
  readonly tell: (world: World) => Promise<unknown>
}

/** What stories have in common. */
export interface World {
  readonly client: ServiceClient
  readonly keys: {
    /** Of a caller who may do everything. */
    readonly caller: string
    /** Whose one capability is `sandbox:echo`. */
    readonly narrow: string
    /** Who may read everything. */
    readonly auditor: string
  }
  readonly maker: Human
  readonly checker: Human
  /** Enrolled: whose signed approvals count. */
  readonly approver: { readonly approverId: string; readonly key: SigningKey }
  readonly database: Client
  /** Of the external connector. */
  readonly receiverUrl: string
  readonly publicKeyIds: readonly string[]
  /** Ids of executions that were answered 200, some of the newest. */
  readonly executed: Recent<string>
  /** Numbers the names that a run makes up. */
  readonly next: () => number
}

/** A bounded memory: the newest of what was put in. */
export interface Recent<T> {
  readonly add: (item: T) => void
  /** Any of them. fails where there is none yet */
  readonly any: () => T
}

const RECENT_MAX = 500

export function recent<T>(): Recent<T> {
  const items: T[] = []
  let at = 0
  return {
    add(item) {
      items[at] = item
      at = (at + 1) % RECENT_MAX
    },
    any() {
      const item = items[Math.floor(Math.random() * items.length)]
      if (item === undefined) throw new Error('nothing has been put in yet')
      return item
    },
  }
}

export function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}
