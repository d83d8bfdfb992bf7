// Executions that were released and have no record yet.
import type { ExecutionIntent } from '../../formats/schemas/execution-intent.ts'
import { useIntentRows } from '../components/intents.tsx'
import { Listed, listPath } from '../components/list.tsx'
import { useLoaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'

const EVERY_MS = 5_000

export function InDoubt({ query }: PageProps) {
  const loaded = useLoaded<{ intents: ExecutionIntent[] }>(
    listPath('/execution-intents/unfinalized', query, ['cursor']),
    EVERY_MS,
  )
  const rows = useIntentRows(EVERY_MS)
  return (
    <>
      <h1>In doubt</h1>
      <p>
        The service released these executions and has no answer that it could sign. Find out at the system
        that carries the action out whether it happened, then open the execution and say what you found.
        Nothing here is tried again.
      </p>
      <Listed
        loaded={loaded}
        rowsOf={({ intents }) => intents}
        empty="Every execution has its outcome."
        caption="Executions without an outcome"
        {...rows}
      />
    </>
  )
}
