// The answers of the system routes (interface §4.1, decisions §5).
import { Type } from 'typebox'
import { NonEmptyText } from './primitives.ts'

export const ServiceStatus = Type.Object({ name: NonEmptyText, status: Type.Enum(['UP']) })

export const Health = Type.Object({ status: Type.Enum(['UP']) })

export const Ready = Type.Object({
  status: Type.Enum(['READY']),
  authDisabled: Type.Boolean(),
  warnings: Type.Optional(
    Type.Array(NonEmptyText, { description: 'conditions that an operator should look at' }),
  ),
})

/** `error` repeats the reason: every reply that is not 2xx has one (interface §7). */
export const NotReady = Type.Object({
  status: Type.Enum(['NOT_READY']),
  reason: NonEmptyText,
  error: NonEmptyText,
  authDisabled: Type.Boolean(),
})

export const Version = Type.Object({ name: NonEmptyText, version: NonEmptyText, api: Type.Enum(['v1']) })

const ClientPackage = Type.Object({ package: NonEmptyText, version: NonEmptyText })

export const ApiManifest = Type.Object({
  name: NonEmptyText,
  apiVersion: Type.Enum(['v1']),
  buildVersion: NonEmptyText,
  openapi: Type.Object({ yaml: NonEmptyText, json: NonEmptyText }),
  documentation: Type.Object({
    interactive: NonEmptyText,
    reference: NonEmptyText,
    handbook: NonEmptyText,
    verifier: NonEmptyText,
  }),
  authentication: Type.Object({ type: Type.Enum(['bearer']), header: Type.Enum(['Authorization']) }),
  clients: Type.Object({ typescript: ClientPackage, python: ClientPackage }),
})
