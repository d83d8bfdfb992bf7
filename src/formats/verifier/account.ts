// A piece of evidence says in words who asked for what, how much, who approved, what was done. It is read from evidence of any
// shape and alone proves nothing: the verdict is shown with it.
import type { Json } from '../json/canonical.ts'
import { cut } from '../text/text.ts'
import { itemsOf } from '../artifacts/evidence.ts'
import { isMembers, type Members } from '../json/members.ts'
import { artifactOf, bulkEntries } from './index.ts'
import type { EvidenceKind } from '../artifacts/kinds.ts'
import { parseEvidence } from './parse.ts'

export interface Account {
  /** Texts of the evidence, each with what it is about. None is empty, and each is cut to a length that fits a page. */
  readonly said: readonly (readonly [about: string, text: string])[]
  /** Evidence about an action has its name, and how it ended. */
  readonly action?: { readonly name: string; readonly ending: Ending }
  /** The humans who approved the action, each once, by the name that their key is enrolled under. */
  readonly approvers: readonly string[]
}

export type Ending = 'Done, as the connector reported' | 'Not done' | 'Refused' | 'An approval was asked for'

const TEXT_MAX = 200

/** @returns one for each piece of evidence in the text, in the order of `verifyFileBy`; none where the text cannot be read */
export function accountsOf(file: string): Account[] {
  let evidence: Json
  try {
    evidence = parseEvidence(file, 'The evidence')
  } catch {
    return []
  }
  return (bulkEntries(evidence) ?? [evidence]).map((entry) => {
    const members = isMembers(entry) ? entry : {}
    const artifact = artifactOf(members)
    const { said, ...others } = artifact === undefined ? { said: {} } : ACCOUNTS[artifact](members)
    const texts = Object.entries(said).filter(([, one]) => one !== '')
    return {
      approvers: [],
      ...others,
      said: texts.map(([about, one]) => [about, cut(one, TEXT_MAX)] as const),
    }
  })
}

type Told = Omit<Account, 'said' | 'approvers'> & {
  readonly said: Readonly<Record<string, string>>
  readonly approvers?: readonly string[]
}

const ACCOUNTS: Readonly<Record<EvidenceKind, (evidence: Members) => Told>> = {
  bundle: (bundle) => ofRecord(at(bundle, 'record')),
  'trust-record': ofRecord,
  'refusal-record': ofRefusal,
  'approval-request': (evidence) => ofRequest(at(evidence, 'request')),
  'approval-request-close': (close) => ({
    said: {
      Request: text(close, 'requestId'),
      'How it ended': joined(': ', text(close, 'status'), text(close, 'reason')),
      By: text(close, 'by'),
      When: text(close, 'closedAt'),
    },
  }),
  receipt: (receipt) => ({
    said: { 'Receipt for': text(receipt, 'businessTransactionId'), When: text(receipt, 'issuedAt') },
  }),
  'governance-change': (change) => ({
    said: {
      Change: joined(' ', text(change, 'kind'), text(change, 'target')),
      Why: text(change, 'reason'),
      'Proposed by': text(change, 'proposedBy'),
      'How it ended': text(change, 'status'),
      By: text(change, 'resolvedBy'),
      When: text(change, 'resolvedAt') || text(change, 'proposedAt'),
    },
  }),
  'audit-event': (evidence) => {
    const event = at(evidence, 'event')
    return {
      said: {
        Event: joined(' ', text(event, 'type'), text(event, 'capability')),
        Caller: text(event, 'callerId'),
        Why: text(event, 'reason'),
        When: text(event, 'occurredAt'),
      },
    }
  },
  'intent-transition': (evidence) => {
    const transition = at(evidence, 'transition')
    return {
      said: {
        Execution: text(transition, 'businessTransactionId'),
        'How it ended': joined(': ', text(transition, 'to'), text(transition, 'resolution')),
        Why: text(transition, 'note'),
        By: text(transition, 'by'),
        When: text(transition, 'at'),
      },
    }
  },
  'provider-confirmation': (evidence) => {
    const confirmation = at(evidence, 'confirmation')
    return {
      said: {
        Execution: text(confirmation, 'businessTransactionId'),
        'What the provider says': text(confirmation, 'says'),
        Provider: text(confirmation, 'provider'),
        When: text(confirmation, 'receivedAt'),
      },
    }
  },
}

function ofRecord(record: Members): Told {
  const transaction = at(record, 'transaction')
  const intent = at(transaction, 'intent')
  const authority = at(transaction, 'authority')
  const [executed] = itemsOf(record['executions'])
  const execution = isMembers(executed) ? executed : {}
  const isDone = text(execution, 'status') === 'COMPLETED'
  const ending = isDone ? 'Done, as the connector reported' : 'Not done'
  const why = isDone ? '' : text(at(at(execution, 'evidence'), 'result'), 'reason')
  const approvers = approversOf(at(execution, 'decision'))
  return {
    action: { name: text(intent, 'action'), ending },
    approvers,
    said: {
      ...ofIntent(intent),
      'Asked by': text(at(transaction, 'metadata'), 'submittedBy'),
      'On behalf of': text(authority, 'displayName') || text(authority, 'principalId'),
      'Approved by': approvers.join(', '),
      'Under policy': policyText(at(transaction, 'policy')),
      'What was done': joined(': ', ending, why),
      When: text(execution, 'completedAt') || text(record, 'createdAt'),
    },
  }
}

function ofRefusal(refusal: Members): Told {
  const decision = at(refusal, 'decision')
  const intent = at(refusal, 'evaluatedIntent')
  return {
    action: { name: text(intent, 'action'), ending: 'Refused' },
    said: {
      ...ofIntent(intent),
      'Asked by': text(refusal, 'submittedBy'),
      'Under policy': policyText(at(decision, 'policy')),
      'What was done': joined(': ', 'Refused', text(decision, 'reason')),
      When: text(refusal, 'createdAt'),
    },
  }
}

function ofRequest(request: Members): Told {
  return {
    action: { name: text(request, 'capability'), ending: 'An approval was asked for' },
    said: {
      'Asked for': joined(' → ', text(request, 'capability'), text(request, 'target')),
      'How much': membersText(at(request, 'parameters')),
      'Asked by': text(request, 'requestedBy'),
      'On behalf of': text(request, 'principalId'),
      'Under policy': policyText(at(request, 'policy')),
      When: text(request, 'createdAt'),
    },
  }
}

function ofIntent(intent: Members) {
  return {
    'Asked for': joined(' → ', text(intent, 'action'), text(intent, 'target')),
    'How much': membersText(at(intent, 'parameters')),
  }
}

function approversOf(decision: Members): string[] {
  const approvals = Object.values(at(decision, 'verifiedSignals')).flatMap((signal) =>
    isMembers(signal) ? itemsOf(signal['approvals']) : [],
  )
  const names = approvals.map((approval) =>
    isMembers(approval) ? text(at(approval, 'payload'), 'approverId') : '',
  )
  return [...new Set(names.filter(Boolean))].map((name) => cut(name, TEXT_MAX))
}

function policyText(policy: Members): string {
  return joined(' ', text(policy, 'name'), text(policy, 'version'))
}

function membersText(members: Members): string {
  return Object.entries(members)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}

function joined(separator: string, ...texts: readonly string[]): string {
  return texts.filter(Boolean).join(separator)
}

function at(members: Members, name: string): Members {
  const value = members[name]
  return isMembers(value) ? value : {}
}

function text(members: Members, name: string): string {
  const value = members[name]
  return typeof value === 'string' ? value : ''
}
