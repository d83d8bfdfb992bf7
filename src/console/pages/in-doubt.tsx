// Executions that were released and have no record yet.
import type { ExecutionIntent } from '../../formats/schemas/execution-intent.ts'
import { intentRows } from '../components/intents.tsx'
import { Listed, listPath } from '../components/list.tsx'
import { useLoaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'

export function InDoubt({ query }: PageProps) {
  const loaded = useLoaded<{ intents: ExecutionIntent[] }>(
    listPath('/execution-intents/unfinalized', query, ['cursor']),
    5_000,
  )
  return (
    <>
      <h1>In doubt</h1>
      <p>
        The service released these executions and has no answer that it could sign. Find out at the system
        that carries the action out whether it happened, then close the execution with what you found. Nothing
        here is tried again.
      </p>
      <Listed
        loaded={loaded}
        rowsOf={({ intents }) => intents}
        empty="Every execution has its outcome."
        caption="Executions without an outcome"
        {...intentRows}
      />
    </>
  )
}
