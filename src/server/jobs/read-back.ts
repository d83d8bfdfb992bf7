// Asks external connectors about executions in doubt, on every instance (docs/handbook/executions.md): a thread signs the questions, they are
// sent from here, and a thread concludes (workers/intents/read-back.ts). The connectors are asked concurrently, so that none waits for another,
// and waiting for answers takes no thread.
import { reachOf } from '../../core/outbound/address.ts'
import { call } from '../../core/outbound/call.ts'
import type { ExternalConnectorRow } from '../../store/tables/external-connectors.ts'
import type {
  AnsweredQuestion,
  AskConnector,
  Question,
  ReadBackOutcome,
} from '../../core/operations/read-back.ts'
import { within } from '../../core/threads/within.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { doOwnWork } from '../dispatch/own-work.ts'
import { startDueWork } from './due.ts'

const LOOK_EVERY_MS = 1_000
/** The number of questions to one connector at a time, each over a connection of its own. */
const QUESTIONS_MAX = 8
const CLOSE_MS = 1_000

interface ReadingBack {
  /** Asks no more questions: those under way are given up, and asked again later. */
  readonly close: () => Promise<void>
}

/**
 * @param connectors the connectors in effect now
 * @param onAnswer called for each question
 * @param log called for a connector's first question without an answer, and again for the next one after it has answered
 */
export function startReadingBack({
  connectors,
  submit,
  onAnswer = () => undefined,
  log,
}: {
  connectors: () => readonly ExternalConnectorRow[]
  submit: Dispatcher['submit']
  onAnswer?: ((outcome: ReadBackOutcome) => void) | undefined
  log: { warn: (line: object, message: string) => void; info: (line: object, message: string) => void }
}): ReadingBack {
  const closing = new AbortController()
  const { signal } = closing
  const silent = new Set<string>()

  /** Asks until nothing is due. */
  async function askAll({ changeId }: ExternalConnectorRow): Promise<void> {
    for (;;) {
      const asked = await doOwnWork(submit, 'ask-connector', {
        changeId,
        countMax: QUESTIONS_MAX,
      } satisfies AskConnector)
      await Promise.all(asked.map(ask))
      if (asked.length < QUESTIONS_MAX || signal.aborted) return
    }
  }

  async function ask(question: Question): Promise<void> {
    const { businessTransactionId, capability, changeId, url, headers, timeoutMs } = question
    const answer = await call({ method: 'GET', url, headers, reach: reachOf(url), timeoutMs, signal })
    if (signal.aborted) return
    const exchange: AnsweredQuestion['exchange'] =
      answer.kind === 'answered'
        ? {
            kind: 'answered',
            status: answer.status,
            encoding: answer.headers['content-encoding'],
            body: Buffer.from(answer.body).toString('base64'),
          }
        : answer
    const { outcome, problem } = await doOwnWork(submit, 'conclude-read-back', {
      question,
      exchange,
    } satisfies AnsweredQuestion)
    onAnswer(outcome)
    const line = { capability, businessTransactionId }
    if (problem !== undefined) return tell(changeId, { ...line, reason: `The connector ${problem}.` })
    silent.delete(changeId)
    log.info({ ...line, outcome }, 'read back from a connector')
  }

  function tell(changeId: string, line: object): void {
    if (!silent.has(changeId)) log.warn(line, 'read back from a connector')
    silent.add(changeId)
  }

  const ended = startDueWork<ExternalConnectorRow>(signal, {
    everyMs: LOOK_EVERY_MS,
    take: async (asking) =>
      connectors().filter(
        ({ readBack, changeId }) => readBack && !asking.some((one) => one.changeId === changeId),
      ),
    settle: askAll,
    // The intents that were taken are due again later.
    onUnsettled: ({ changeId, capability }, reason) => tell(changeId, { capability, reason }),
  })
  return {
    async close() {
      closing.abort()
      await within(CLOSE_MS, ended(), undefined)
    },
  }
}
