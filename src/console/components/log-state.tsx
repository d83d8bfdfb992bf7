// How far the evidence log is published, and by whom its newest checkpoint is signed.
import { getText, orNone, whenLoaded } from '../api.ts'
import { useFound } from '../hooks.ts'
import { Empty, NotLoaded, Panel, Said } from './basic.tsx'

interface Checkpoint {
  readonly origin: string
  readonly size: number
  /** Names of the keys that signed it. */
  readonly signers: readonly string[]
}

/** @param text a signed note (c2sp.org/tlog-checkpoint) */
function readCheckpoint(text: string): Checkpoint {
  const [note = '', signatures = ''] = text.split('\n\n')
  const [origin = '', size = ''] = note.split('\n')
  const signers = [...signatures.matchAll(/^— (\S+) /gm)].map(([, name = '']) => name)
  return { origin, size: Number(size), signers: [...new Set(signers)] }
}

export function LogState() {
  const { found, problem } = useFound(async () => {
    await whenLoaded()
    const text = await orNone(getText('/log/checkpoint'))
    return { checkpoint: text === undefined ? undefined : readCheckpoint(text) }
  }, 'newest')
  const checkpoint = found?.checkpoint
  const witnesses = checkpoint?.signers.filter((name) => name !== checkpoint.origin) ?? []
  return (
    <Panel title="Evidence log">
      {found === undefined ? (
        <NotLoaded problem={problem} />
      ) : checkpoint === undefined ? (
        <Empty>
          Nothing is published: the log has no checkpoint yet, or there is none (<code>LOG=off</code>).
        </Empty>
      ) : (
        <>
          <p>
            <strong>{checkpoint.size.toLocaleString('en-US')}</strong> entries of{' '}
            <Said text={checkpoint.origin} /> are published.
          </p>
          <p class="quiet">
            {witnesses.length === 0 ? (
              'No witness has signed the newest checkpoint.'
            ) : (
              <>
                Its newest checkpoint is also signed by <Said text={witnesses.join(', ')} />.
              </>
            )}
          </p>
        </>
      )}
    </Panel>
  )
}
