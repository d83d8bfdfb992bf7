// A connection to the database that breaks at COMMIT: before the server hears of it, or after it has committed and before we hear of that.
import { openWire, type Wire } from './wire.ts'

/** The message that the server sends when it is done with a query. */
const READY_FOR_QUERY = Buffer.from('Z\0\0\0\x05')

type Fate = 'pass' | 'before' | 'after'

export interface LostCommits extends Wire {
  /** Decides what happens to commits from now on, the next one first; after the last of them they pass. */
  readonly lose: (...commits: Fate[]) => void
}

export async function loseCommits(databaseUrl: string): Promise<LostCommits> {
  let fates: Fate[] = []
  const wire = await openWire(databaseUrl, ({ client, postgres, drop }) => {
    let deaf = false
    let unheard = Buffer.alloc(0)
    return {
      fromClient(bytes) {
        // The name of the statement ends with a NUL.
        const fate = bytes.includes('COMMIT\0') ? fates.shift() : undefined
        deaf ||= fate === 'after'
        if (fate === 'before') drop()
        else postgres.write(bytes)
      },
      fromServer(bytes) {
        if (deaf) unheard = Buffer.concat([unheard, bytes])
        else client.write(bytes)
        if (unheard.includes(READY_FOR_QUERY)) drop()
      },
    }
  })
  return { ...wire, lose: (...commits) => (fates = commits) }
}
