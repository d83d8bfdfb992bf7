// The named schemas of the document, in the order of interface §2, and the conversion of a TypeBox schema to plain JSON Schema.
import type { TSchema } from 'typebox'
import { Approval, ApprovalPage, SignedApproval } from '../../formats/schemas/approval.ts'
import {
  ApprovalRequest,
  ApprovalRequestContent,
  ApprovalRequestPage,
} from '../../formats/schemas/approval-request.ts'
import {
  ApprovalRequestBody,
  ApprovalRequestDecline,
  ApprovalRequestNoteBody,
} from '../../formats/schemas/approval-request-body.ts'
import {
  ApproverGroup,
  ApproverGroupList,
  ApproverGroupProposal,
} from '../../formats/schemas/approver-group.ts'
import { StandIn, StandInList, StandInProposal } from '../../formats/schemas/stand-in.ts'
import { Approver, ApproverList, ApproverProposal } from '../../formats/schemas/approver.ts'
import {
  AuditEvent,
  AuditEventPage,
  AuditEventWithSignature,
  AuditVerification,
} from '../../formats/schemas/audit-event.ts'
import {
  Authority,
  Authorization,
  BusinessTransaction,
  Intent,
  PolicyReference,
  Signals,
  SubmittedTransaction,
} from '../../formats/schemas/business-transaction.ts'
import { CallerKey, CallerKeyList, CallerKeyProposal } from '../../formats/schemas/caller-key.ts'
import { CallerIdentity } from '../../formats/schemas/caller-identity.ts'
import { Decision } from '../../formats/schemas/decision.ts'
import { ErrorBody, PolicyValidity, PolicyVersion } from '../../formats/schemas/error.ts'
import { EvidenceBundle } from '../../formats/schemas/evidence-bundle.ts'
import {
  EventEndpoint,
  EventEndpointList,
  EventEndpointProposal,
  EventEndpointSecret,
  EventRedelivery,
} from '../../formats/schemas/event-endpoint.ts'
import {
  ExecutionIntent,
  ExecutionIntentPage,
  IntentResolution,
  IntentTransition,
  IntentTransitionWithSignature,
} from '../../formats/schemas/execution-intent.ts'
import {
  ExternalConnector,
  ExternalConnectorList,
  ExternalConnectorProposal,
} from '../../formats/schemas/external-connector.ts'
import {
  Change,
  ChangeApproval,
  ChangePage,
  ChangeRejection,
  EndpointStepUp,
  ProposalStepUp,
  StepUpAuthorization,
} from '../../formats/schemas/governance.ts'
import { ImpactReport } from '../../formats/schemas/impact-report.ts'
import { LogConsistency, LogDescription } from '../../formats/schemas/log.ts'
import { PolicyDocument } from '../../formats/schemas/policy.ts'
import {
  PolicyDetail,
  PolicyPage,
  PolicyProposal,
  PolicySummary,
} from '../../formats/schemas/policy-version.ts'
import { Base64, Instant, Sha256, Timestamp, Uuid } from '../../formats/schemas/primitives.ts'
import {
  ProviderConfirmation,
  ProviderConfirmationPage,
  ProviderConfirmationWithSignature,
} from '../../formats/schemas/provider-confirmation.ts'
import { Receipt } from '../../formats/schemas/receipt.ts'
import { RefusalPage, RefusalRecord, RefusalVerification } from '../../formats/schemas/refusal-record.ts'
import { RecordReference, ReplayRequest, ReplayResult } from '../../formats/schemas/replay.ts'
import {
  PolicyCheck,
  PolicyCheckRequest,
  PolicySimulation,
  SandboxEvaluation,
  SimulationRequest,
} from '../../formats/schemas/sandbox.ts'
import {
  Algorithm,
  BatchAlgorithm,
  BatchPosition,
  CarriedSignature,
  Signature,
} from '../../formats/schemas/signature.ts'
import { KeySet, PublicSigningKey } from '../../formats/schemas/signing-key.ts'
import { ApiManifest, Health, NotReady, Ready, ServiceStatus, Version } from '../../formats/schemas/system.ts'
import {
  Execution,
  ExecutionAuthorization,
  ExecutionTrustRecord,
} from '../../formats/schemas/trust-record.ts'
import { Verification } from '../../formats/schemas/verification.ts'
import {
  WebhookRule,
  WebhookRules,
  WebhookRulesPage,
  WebhookRulesProposal,
} from '../../formats/schemas/webhook-rules.ts'
import {
  WebhookDelivery,
  WebhookEvent,
  WebhookEventPage,
  WebhookEventWithBody,
  WebhookReceipt,
} from '../../formats/schemas/webhook.ts'

/** Names are part of the contract: client code is generated from them. */
const named: Readonly<Record<string, TSchema>> = {
  Uuid,
  Timestamp,
  Instant,
  Sha256,
  Base64,
  SubmittedTransaction,
  BusinessTransaction,
  Authority,
  Authorization,
  Intent,
  PolicyReference,
  Signals,
  ExecutionTrustRecord,
  Execution,
  Decision,
  ExecutionAuthorization,
  Algorithm,
  Signature,
  CarriedSignature,
  BatchAlgorithm,
  BatchPosition,
  RecordReference,
  Verification,
  Receipt,
  ReplayRequest,
  ReplayResult,
  CallerIdentity,
  PublicSigningKey,
  KeySet,
  Approver,
  ApproverGroup,
  ApproverGroupList,
  ApproverGroupProposal,
  StandIn,
  StandInList,
  StandInProposal,
  ApproverList,
  ApproverProposal,
  ExternalConnector,
  ExternalConnectorList,
  ExternalConnectorProposal,
  CallerKey,
  CallerKeyList,
  CallerKeyProposal,
  EventEndpoint,
  EventEndpointList,
  EventEndpointProposal,
  EventEndpointSecret,
  EventRedelivery,
  SignedApproval,
  Approval,
  ApprovalPage,
  ApprovalRequest,
  ApprovalRequestContent,
  ApprovalRequestPage,
  ApprovalRequestBody,
  ApprovalRequestDecline,
  ApprovalRequestNoteBody,
  Error: ErrorBody,
  PolicyVersion,
  PolicyValidity,
  PolicyDocument,
  PolicySummary,
  PolicyPage,
  PolicyDetail,
  PolicyProposal,
  StepUpAuthorization,
  ProposalStepUp,
  EndpointStepUp,
  ImpactReport,
  Change,
  ChangePage,
  ChangeApproval,
  ChangeRejection,
  SandboxEvaluation,
  PolicyCheckRequest,
  PolicyCheck,
  SimulationRequest,
  PolicySimulation,
  ExecutionIntent,
  ExecutionIntentPage,
  IntentTransition,
  IntentTransitionWithSignature,
  IntentResolution,
  ProviderConfirmation,
  ProviderConfirmationWithSignature,
  ProviderConfirmationPage,
  RefusalPage,
  RefusalRecord,
  RefusalVerification,
  AuditEvent,
  AuditEventWithSignature,
  AuditEventPage,
  AuditVerification,
  LogDescription,
  LogConsistency,
  EvidenceBundle,
  WebhookDelivery,
  WebhookReceipt,
  WebhookRule,
  WebhookRules,
  WebhookRulesPage,
  WebhookRulesProposal,
  WebhookEvent,
  WebhookEventPage,
  WebhookEventWithBody,
  ServiceStatus,
  Health,
  Ready,
  NotReady,
  Version,
  ApiManifest,
}

/** Keyed by the schema's JSON, because TypeBox copies the schema of an optional member. */
const nameOf = new Map(Object.entries(named).map(([name, schema]) => [JSON.stringify(schema), name]))

/** @returns the JSON Schema, with a reference in place of each named schema */
export function schemaOf(schema: TSchema): unknown {
  return refer(plain(schema))
}

/** `components.schemas`: each schema after those that it refers to, because some generators write code in this order. */
export function componentSchemas(): Record<string, unknown> {
  const inOrder: Record<string, unknown> = {}
  function add(name: string, schema: TSchema): void {
    if (Object.hasOwn(inOrder, name)) return
    const component = members(plain(schema))
    for (const [, referred = ''] of JSON.stringify(component).matchAll(REFERENCE)) {
      const of = named[referred]
      if (of !== undefined) add(referred, of)
    }
    inOrder[name] = component
  }
  for (const [name, schema] of Object.entries(named)) add(name, schema)
  return inOrder
}

const REFERENCE = /"\$ref":"#\/components\/schemas\/(\w+)"/g

/** Drops TypeBox's own members, which are not enumerable. */
function plain(schema: TSchema): unknown {
  return JSON.parse(JSON.stringify(schema))
}

function refer(schema: unknown): unknown {
  const name = nameOf.get(JSON.stringify(schema))
  return name === undefined ? members(schema) : { $ref: `#/components/schemas/${name}` }
}

function members(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(refer)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, refer(value)]))
}
