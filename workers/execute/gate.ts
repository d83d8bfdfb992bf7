// Third stage: the gateway's checks of each authorization, before its nonce is consumed by `claim` (decisions §8).
import { failures, type Failure } from '../../src/core/errors/errors.ts'
import { carriersIn } from '../../src/core/signing/signature.ts'
import { revokedSigner } from '../../src/core/signing/revocation.ts'
import type { ThreadContext } from '../context.ts'
import {
  checkAuthorization,
  checkPayload,
  type CheckWith,
  type GatewayRefusal,
  type SignedAuthorization,
} from '../gateway.ts'
import { Finished } from '../in-flight.ts'
import { signedText, type Authorization } from './decide/authorization.ts'
import type { Authorized, Claimable, Gateable, Signed } from './decide/authorize.ts'
import { checkSampled } from './sampled.ts'

type AdmitWith = Pick<ThreadContext, 'findKey' | 'key' | 'receiptKeys' | 'evidenceFaults'>

interface GateWith extends AdmitWith {
  readonly now: Date
}

/** Gates a batch that was authorized together. @returns in the order of `signed`; where nothing is admitted, a 503 for each */
export function gate(
  signed: readonly (Gateable | Finished)[],
  tools: GateWith & Pick<ThreadContext, 'pick'>,
): (Claimable | Finished)[] {
  const refused = notAdmitted(tools)
  if (refused !== undefined) return refuseAll(signed, refused)
  const checked = checkSampled<Gateable, Claimable>(
    signed,
    {
      isPlain: isSigned,
      whole: (item) => checkWhole(item, tools),
      holds: () => true,
      unaltered: (items, sample) => signedTogether(items.filter(isSigned), sample as Signed),
      rest: (item) => (isSigned(item) ? checkRest(item, tools) : item),
    },
    tools,
  )
  // The sample may just have failed.
  const found = notAdmitted(tools)
  return found === undefined ? checked : refuseAll(checked, found)
}

function refuseAll(items: readonly (Gateable | Finished)[], refused: Failure): Finished[] {
  return items.map((item) => (item instanceof Finished ? item : new Finished(item.request, refused)))
}

/** Gates an execution that is in no batch. */
export function gateAlone(signed: Gateable, tools: GateWith): Claimable | Failure {
  return notAdmitted(tools) ?? checkWhole(signed, tools)
}

/** Why this instance executes nothing, and refuses nothing by a record: evidence of it could not be stored, or would count nowhere. */
export function notAdmitted({ findKey, key, receiptKeys, evidenceFaults }: AdmitWith): Failure | undefined {
  const signers = [key, ...receiptKeys].map((signer) => signer.public)
  const revoked = revokedSigner(signers, findKey)
  if (revoked !== undefined) return failures.signingKeyRevoked(revoked)
  const fault = evidenceFaults.current()
  if (fault === undefined) return undefined
  return fault.kind === 'refused'
    ? failures.evidenceRefused(fault.sqlState)
    : failures.evidenceNotVerified(`that of ${evidenceFaults.businessTransactionId()}`)
}

function isSigned(item: Gateable): item is Signed {
  return item.outcome === 'approved'
}

/** The authorizations whose bytes equal those that follow from the tree of their batch and their payload. */
function signedTogether(items: readonly Signed[], sample: Signed): ReadonlySet<Gateable> {
  return carriersIn<Signed>('execution-authorization', items, {
    sample: { item: sample, signatures: [sample.authorization.signature] },
    textOf: ({ authorization }) => authorization.payload,
    carries: ({ authorization: { payload, signed } }, [signature]) =>
      signature !== undefined && signed.text === signedText(payload, signature),
  })
}

function checkWhole(item: Gateable, tools: GateWith): Claimable | Failure {
  if (!isSigned(item)) return item
  const presented = JSON.parse(item.authorization.signed.text) as SignedAuthorization
  const refusal = checkAuthorization(presented, { ...checkOf(item, tools), findKey: tools.findKey })
  return passed(item, presented.payload, refusal)
}

/** Everything but the signature. */
function checkRest(item: Signed, tools: GateWith): Authorized | Failure {
  const payload = JSON.parse(item.authorization.payload) as SignedAuthorization['payload']
  const refusal = checkPayload(payload, { ...checkOf(item, tools), isSigned: () => true })
  return passed(item, payload, refusal)
}

function checkOf({ transaction, canonical, authorizationMemo: signatureMemo }: Signed, { now }: GateWith) {
  return { transaction, parameters: canonical.parameters, now, signatureMemo }
}

function passed(
  item: Signed,
  permission: SignedAuthorization['payload'],
  refusal: GatewayRefusal | undefined,
): Authorized | Failure {
  return refusal === undefined ? { ...item, permission } : failures.internal(refusal)
}

/** Checks the bytes of an authorization, which the record will hold. */
export function checkSigned(
  { signed }: Pick<Authorization, 'signed'>,
  check: CheckWith,
): GatewayRefusal | undefined {
  return checkAuthorization(JSON.parse(signed.text) as SignedAuthorization, check)
}
