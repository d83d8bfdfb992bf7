// Whose signatures count, and which keys the service signs with.
import { Badge, Hash, Panel, Said, Time } from '../components/basic.tsx'
import { Listed, Table } from '../components/list.tsx'
import { useLoaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'

interface ApproverKey {
  readonly approverId: string
  readonly keyId: string
  readonly publicKeyPem: string
  readonly passkey?: object
  readonly enrolledAt: string
  readonly revokedAt?: string
}

interface ServiceKey {
  readonly keyId: string
  readonly algorithm: string
  readonly use: string
  readonly pem: string
}

export function Approvers({ me }: PageProps) {
  const approvers = useLoaded<{ approvers: ApproverKey[] }>(
    me.credentialHolderType === 'USER' ? '/approvers' : undefined,
    30_000,
  )
  const own = useLoaded<{ keys: ServiceKey[] }>('/.well-known/jwks.json', 30_000)
  return (
    <>
      <h1>Approvers and keys</h1>
      {me.credentialHolderType === 'USER' && (
        <Panel title="Approvers">
          <Listed
            loaded={approvers}
            rowsOf={(reply) => reply.approvers}
            empty="Nobody can approve yet. The handbook's chapter Governing enrols the first approver."
          >
            {(rows) => (
              <Table
                caption="Keys of approvers"
                rows={rows}
                keyOf={({ approverId, keyId }) => `${approverId}:${keyId}`}
                columns={[
                  { title: 'Approver', cell: ({ approverId }) => <Said text={approverId} /> },
                  { title: 'Key', cell: ({ keyId }) => <Said text={keyId} /> },
                  {
                    title: 'Signs as',
                    cell: ({ passkey }) => (passkey === undefined ? 'raw key' : 'passkey'),
                  },
                  {
                    title: 'Status',
                    cell: ({ revokedAt }) => (
                      <Badge status={revokedAt === undefined ? 'IN_EFFECT' : 'REVOKED'} />
                    ),
                  },
                  { title: 'Enrolled', minor: true, cell: ({ enrolledAt }) => <Time at={enrolledAt} /> },
                ]}
              />
            )}
          </Listed>
          <p>
            <a href="/console/passkey">Make a passkey</a> that approves, or that resolves changes.
          </p>
        </Panel>
      )}
      <Panel title="Keys of the service">
        <p class="quiet">
          Evidence is checked by these. Compare their text with what you saved when you first trusted this
          service.
        </p>
        <Listed loaded={own} rowsOf={({ keys }) => keys} empty="No key is published.">
          {(rows) => (
            <Table
              caption="Published keys"
              rows={rows}
              keyOf={({ keyId }) => keyId}
              columns={[
                { title: 'Key', cell: ({ keyId }) => <Hash value={keyId} whole /> },
                { title: 'Algorithm', cell: ({ algorithm }) => <code>{algorithm}</code> },
              ]}
            />
          )}
        </Listed>
      </Panel>
    </>
  )
}
