// The page of approvers whose signatures count, of callers' keys and their permissions, and of the service's signing keys.
import type { ApproverGroup } from '../../formats/schemas/approver-group.ts'
import type { Approver } from '../../formats/schemas/approver.ts'
import type { CallerKey } from '../../formats/schemas/caller-key.ts'
import type { StandIn } from '../../formats/schemas/stand-in.ts'
import type { PublicSigningKey } from '../../formats/schemas/signing-key.ts'
import { useState } from 'preact/hooks'
import { Badge, Command, Hash, Panel, Said, Time } from '../components/basic.tsx'
import { CounterMisfit, useCounterMisfits } from '../components/counters.tsx'
import { Listed } from '../components/list.tsx'
import { CallerLink } from '../components/names.tsx'
import { fingerprintOf } from '../hashing.ts'
import { useLater, useLoaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'

export function Approvers({ me }: PageProps) {
  const approvers = useLoaded<{ approvers: Approver[] }>('/approvers', 30_000)
  const groups = useLoaded<{ approverGroups: ApproverGroup[] }>(useLater('/approver-groups'), 30_000)
  const standIns = useLoaded<{ standIns: StandIn[] }>(useLater('/stand-ins'), 30_000)
  const callerKeys = useLoaded<{ callerKeys: CallerKey[] }>(useLater('/caller-keys'), 30_000)
  const misfits = useCounterMisfits()
  const [revoking, setRevoking] = useState<Approver>()
  const own = useLoaded<{ keys: PublicSigningKey[] }>(useLater('/.well-known/jwks.json'), 30_000)
  return (
    <>
      <h1>Approvers and keys</h1>
      <Panel title="Approvers">
        <Listed
          loaded={approvers}
          rowsOf={(reply) => reply.approvers}
          empty="Nobody can approve yet. The handbook's chapter Governing enrols the first approver."
          caption="Keys of approvers"
          keyOf={({ approverId, keyId }) => `${approverId}:${keyId}`}
          columns={[
            {
              title: 'Approver',
              cell: ({ approverId }) => (
                <a
                  class="name"
                  href={`/console/requests?${new URLSearchParams({ signedBy: approverId }).toString()}`}
                >
                  <Said text={approverId} />
                </a>
              ),
            },
            { title: 'Key', cell: ({ keyId }) => <Said text={keyId} /> },
            {
              title: 'Fingerprint',
              minor: true,
              cell: ({ publicKeyPem }) => <Hash value={fingerprintOf(publicKeyPem)} />,
            },
            {
              title: 'Signs as',
              cell: ({ approverId, keyId, passkey }) => (
                <>
                  {passkey === undefined ? 'key in a file' : 'passkey'}
                  {misfits.some((one) => one.approverId === approverId && one.keyId === keyId) && (
                    <CounterMisfit />
                  )}
                </>
              ),
            },
            {
              title: 'Status',
              cell: ({ revokedAt }) => <Badge status={revokedAt === undefined ? 'IN_EFFECT' : 'REVOKED'} />,
            },
            { title: 'Enrolled', minor: true, cell: ({ enrolledAt }) => <Time at={enrolledAt} /> },
            {
              title: 'Revoke',
              cell: (row) =>
                row.revokedAt === undefined && (
                  <button
                    type="button"
                    aria-label={`Revoke ${row.approverId}:${row.keyId}…`}
                    onClick={() => setRevoking(row)}
                  >
                    Revoke…
                  </button>
                ),
            },
          ]}
        />
        {revoking !== undefined && (
          <div role="status">
            <p>
              To revoke <Said text={`${revoking.approverId}:${revoking.keyId}`} />, one human proposes it by
              this command, and another one approves that change. From then on no execution counts an approval
              by this key.
            </p>
            <Proposing
              kind="approver"
              body={{ action: 'revoke', approverId: revoking.approverId, keyId: revoking.keyId }}
            />
          </div>
        )}
        <p class="quiet">
          A fingerprint is the SHA-256 of a public key in DER form. Compare it over another channel with what
          the approver computes: <code>openssl pkey -pubin -in key.public.pem -outform DER | sha256sum</code>
        </p>
        <p>
          <a href="/console/passkey">Make a passkey</a>{' '}
          {me.credentialHolderType === 'USER'
            ? 'that approves, resolves changes, or logs you in.'
            : 'that logs you in.'}
        </p>
      </Panel>
      <Panel title="Groups of approvers">
        <p>
          <a href="/console/changes?kind=approver-group">Changes of groups</a>. Where a policy names a group,
          only the approvals of its members count.
        </p>
        <details>
          <summary>Make or change a group</summary>
          <p>
            One human proposes it by this command, with all members that it is to have, and another one
            approves that change. <code>{'"action": "remove"'}</code>, without members, ends a group.
          </p>
          <Proposing
            kind="approver-group"
            body={{ action: 'set', group: 'managers', members: ['<approverId>', '<approverId>'] }}
          />
        </details>
        <Listed
          loaded={groups}
          rowsOf={(reply) => reply.approverGroups}
          empty="There is no group. The handbook's chapter Governing makes the first one."
          caption="Groups of approvers"
          keyOf={({ group }) => group}
          hrefOf={({ approvedByChange }) => `/console/changes/approver-group/${approvedByChange}`}
          columns={[
            { title: 'Group', cell: ({ group }) => <Said text={group} /> },
            { title: 'Members', cell: ({ members }) => <Said text={members.join(', ')} /> },
            { title: 'Since', minor: true, cell: ({ approvedAt }) => <Time at={approvedAt ?? ''} /> },
          ]}
        />
      </Panel>
      <Panel title="Stand-ins">
        <p>
          <a href="/console/changes?kind=stand-in">Changes of stand-ins</a>. For its time a stand-in counts in
          groups in place of the member, who does not count there meanwhile.
        </p>
        <details>
          <summary>Have somebody stand in, or end it</summary>
          <p>
            One human proposes it by this command, and another one approves that change. To end a stand-in the
            action is <code>remove</code>, with <code>for</code> and <code>from</code> alone.
          </p>
          <Proposing
            kind="stand-in"
            body={{
              action: 'set',
              for: '<approverId>',
              by: '<approverId>',
              from: '<2026-12-01T00:00:00Z>',
              until: '<2026-12-15T00:00:00Z>',
            }}
          />
        </details>
        <Listed
          loaded={standIns}
          rowsOf={(reply) => reply.standIns}
          empty="Nobody stands in for anybody."
          caption="Stand-ins of approvers"
          keyOf={(row) => `${row.for}/${row.from}`}
          hrefOf={({ approvedByChange }) => `/console/changes/stand-in/${approvedByChange}`}
          columns={[
            { title: 'Away', cell: (row) => <Said text={row.for} /> },
            { title: 'Stands in', cell: ({ by }) => <Said text={by} /> },
            { title: 'From', cell: ({ from }) => <Time at={from} /> },
            { title: 'Until', cell: ({ until }) => <Time at={until} /> },
          ]}
        />
      </Panel>
      <Panel title="Keys of callers">
        <p>
          <a href="/console/changes?kind=caller-key">Changes of these keys</a>. The handbook's chapter Callers
          and keys says how a key is issued, and what to do when one has leaked.
        </p>
        <Listed
          loaded={callerKeys}
          rowsOf={(reply) => reply.callerKeys}
          empty="Nobody has a key."
          caption="Keys of callers"
          keyOf={({ callerId, keyId }) => `${callerId}:${keyId}`}
          columns={[
            { title: 'Caller', cell: ({ callerId }) => <CallerLink id={callerId} /> },
            { title: 'Key', cell: ({ keyId }) => <Hash value={keyId} whole /> },
            { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
            { title: 'May', cell: (row) => <Said text={scopeText(row)} /> },
            { title: 'From', minor: true, cell: (row) => <ByWhom row={row} /> },
          ]}
        />
      </Panel>
      <Panel title="Keys of the service">
        <p class="quiet">
          Evidence is checked by these. Compare their text with what you saved when you first trusted this
          service.
        </p>
        <Listed
          loaded={own}
          rowsOf={({ keys }) => keys}
          empty="No key is published."
          caption="Published keys"
          keyOf={({ keyId }) => keyId}
          columns={[
            { title: 'Key', cell: ({ keyId }) => <Hash value={keyId} whole /> },
            { title: 'Algorithm', cell: ({ algorithm }) => <code>{algorithm}</code> },
          ]}
        />
      </Panel>
    </>
  )
}

/** The command that proposes a change: a session cannot propose it. */
function Proposing({ kind, body }: { readonly kind: string; readonly body: object }) {
  const json = JSON.stringify({ ...body, reason: '<why>' }).replaceAll("'", `'\\''`)
  return (
    <Command
      text={`echo '${json}' | bin/countersign changes propose ${kind} - --url ${location.origin} --profile <your profile>`}
    />
  )
}

function scopeText({ credentialHolderType, readAll, allowedCapabilities = [], ...row }: CallerKey): string {
  const { callerId, allowedPrincipalIds = [], expiresAt } = row
  const others = allowedPrincipalIds.filter((id) => id !== callerId)
  return [
    ...(credentialHolderType === 'USER' ? ['govern (a human)'] : []),
    ...(readAll === true ? ['read everything'] : []),
    ...(allowedCapabilities.length === 0 ? [] : [allowedCapabilities.join(', ')]),
    ...(others.length === 0 ? [] : [`as ${others.join(', ')}`]),
    ...(expiresAt === undefined ? [] : [`until ${expiresAt}`]),
  ].join('; ')
}

/** Shows who approved the last change of the key. */
function ByWhom({ row }: { readonly row: CallerKey }) {
  const { source, issuedBy, issuedByChange, revokedBy, revokedByChange } = row
  const changeId = revokedByChange ?? issuedByChange
  if (changeId === undefined) return <>{source}</>
  const by = revokedBy === undefined ? `issued by ${issuedBy ?? ''}` : `revoked by ${revokedBy}`
  return (
    <a href={`/console/changes/caller-key/${changeId}`}>
      <Said text={by} />
    </a>
  )
}
