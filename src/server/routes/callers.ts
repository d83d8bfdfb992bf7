// The identity and scope of the caller (interface §2.6, §4.1).
import { failures } from '../../core/errors/errors.ts'
import { CallerIdentity } from '../../formats/schemas/caller-identity.ts'
import { get, json, type Route } from '../route.ts'

export const callers = [
  {
    ...get,
    path: '/callers/me',
    operationId: 'getCaller',
    tag: 'System',
    summary: 'The caller of this key and its permissions',
    answers: {
      200: {
        description: 'The effective permissions, without key material.',
        schema: CallerIdentity,
        example: {
          callerId: 'local-dev',
          allowedPrincipalIds: ['local-dev'],
          allowedCapabilities: ['*'],
          unrestrictedCapabilities: true,
        },
      },
    },
    failures: ['callerIdentityMissing'],
    /** The answer has exactly the four members of interface §2.6. */
    handle: async ({ caller }) => {
      if (caller === undefined) return failures.callerIdentityMissing()
      const { callerId, allowedPrincipalIds, allowedCapabilities, unrestrictedCapabilities } = caller
      return json({ callerId, allowedPrincipalIds, allowedCapabilities, unrestrictedCapabilities })
    },
  },
] as const satisfies readonly Route[]
