// Replies to tool calls: the upstream result unchanged with the receipt beside it, or an explanation for the agent.
import type { CallToolResult } from '@modelcontextprotocol/server'
import { AnswerError, type CountersignError } from '../../clients/typescript/src/index.ts'
import type { Standing } from './calls.ts'
import { isResult } from './content.ts'

/** The prefix of this gateway's members in `_meta`. */
export const META = 'countersign'

/**
 * Makes the reply for the current status of a call.
 * @param url of the service, where the record is
 * @param isStrict whether the client saw an output schema of the tool: it then refuses results without structured content, except errors
 */
export function replyOf(
  standing: Standing,
  { url, isStrict }: { readonly url: string; readonly isStrict: boolean },
): CallToolResult {
  const { status, id } = standing
  const meta = { [`${META}/status`]: status, [`${META}/transactionId`]: id }
  const said = (text: string, isError: boolean): CallToolResult => ({
    content: [{ type: 'text', text }],
    isError: isError || isStrict,
    _meta: meta,
  })
  switch (status) {
    case 'completed': {
      const result = standing.result ?? storedResult(standing)
      return { ...result, _meta: { ...result._meta, ...meta, ...receiptOf(standing, url) } }
    }
    case 'failed': {
      const result = standing.result ?? said(`The call failed: ${standing.reason}`, true)
      return { ...result, isError: true, _meta: { ...result._meta, ...meta, ...receiptOf(standing, url) } }
    }
    case 'resolved':
      return said(
        `The call was carried out: ${standing.by} has said so after its outcome was not known. Its result is lost. Do not repeat it.`,
        false,
      )
    case 'refused':
      return said(`Refused, and nothing was done: ${standing.reason}`, true)
    case 'waiting':
      return said(
        `This call waits for a human's approval, and nothing has been done yet. The request is at ${standing.page}, its action code is ${standing.request.actionCode}. Call countersign_result with {"id": "${id}"} for the outcome; the same call again waits for the same approval.`,
        false,
      )
    case 'running':
      return said(
        `This call is still running. Do not repeat it: call countersign_result with {"id": "${id}"} for the outcome.`,
        false,
      )
    case 'in-doubt': {
      const reply = said(
        `The outcome is not known; do not repeat it. Call countersign_result with {"id": "${id}"} later, or tell a human the id ${standing.executedAs}: under it an operator finds the execution, and can say how it ended.`,
        true,
      )
      return { ...reply, content: [...reply.content, ...(standing.result?.content ?? [])] }
    }
    case 'unknown-id':
    default:
      return said(`There is no call with the id ${id}.`, true)
  }
}

/** Explains that the outcome of a call is unknown, because the service could not be asked. */
export function unreachable(error: CountersignError): string {
  if (error instanceof AnswerError)
    return `The service refused to answer (${error.message}). The same call again goes on with this one, if it was sent.`
  return `The service does not answer (${error.message}). The same call again goes on with this one.`
}

function receiptOf({ record }: Standing & { status: 'completed' | 'failed' }, url: string) {
  const { businessTransactionId, trustRecordHash } = record
  const { receiptId, receiptHash, keyId } = record.receipts[0] ?? {}
  const receipt = {
    businessTransactionId,
    receiptId,
    receiptHash,
    trustRecordHash,
    keyId,
    url: `${url}/trust-records/${businessTransactionId}`,
  }
  return { [`${META}/receipt`]: receipt }
}

/** The part of a result that evidence has kept, where the result was handed out before, or by an earlier process. */
function storedResult({ record }: Standing & { status: 'completed' }): CallToolResult {
  const stored = record.executions.at(-1)?.evidence.result
  if (isResult(stored)) return stored
  const text = `The call is completed. Its result was too large or no exact JSON, so evidence has only this of it: ${JSON.stringify(stored)}`
  return { content: [{ type: 'text', text }] }
}
