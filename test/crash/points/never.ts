// Awaits in the files of the pipeline that no execution of the crash tests comes to, and why. A new await is here or in points.json.
export const never: Readonly<Record<string, readonly string[]>> = {
  'One execution is killed at a time; of several in a batch one is refused by the database: test/pipeline/batch.test.ts.':
    ['workers/together-or-alone.ts:togetherOrAlone:2'],

  'Executions of one batch share a signature, and each is killed alone. Nothing is stored or sent between these awaits.':
    ['src/core/signing/signature.ts:signTogether:1', 'src/core/signing/signature.ts:signHead:1'],

  'The answer of a message is lost, an id is taken, or somebody else has closed the intent: test/pipeline/lost-commit.test.ts, batch.test.ts.':
    [
      'src/store/tables/business-transactions.ts:readAuthorization:1',
      'workers/execute/claim.ts:wasClaimed:1',
      'workers/execute/claim.ts:claimInOneMessage:2',
      'workers/execute/claim.ts:claimInOneMessage:3',
      'workers/execute/claim.ts:claimInOneMessage:4',
      'src/store/tables/released-batches.ts:lockOpen:2',
      'workers/execute/store/commit.ts:commitApart:2',
      'workers/execute/store/commit.ts:commitApart:4',
      'workers/execute/store/commit.ts:lateEvents:1',
    ],

  'A node of Citus ended in the moment of a commit: test/citus/drill.test.ts.': [
    'workers/execute/store/commit.ts:commitApart:3',
    'workers/execute/store/commit.ts:mustHaveEnded:1',
  ],

  'The database is there and refuses evidence, so that a store is tried and rolled back: test/http/evidence-refused.test.ts.':
    [
      'workers/execute/store/commit.ts:whyNotStorable:1',
      'workers/execute/store/commit.ts:whyNotStorable:2',
      'workers/execute/store/commit.ts:whyNotStorable:3',
      'workers/execute/store/pending-evidence.ts:openPendingEvidence.probe:1',
    ],

  'Other operations than an execution: what is stored is read, verified, approved, listed, swept, or closed by hand.':
    [
      ...[
        'closeApprovalRequest:1',
        'closeApprovalRequest:2',
        'countOpenRequests:1',
        'expireApprovalRequests:1',
        'findApprovalRequests:1',
        'findRequestsBeside:1',
        'findOpenRequest:1',
        'insertApprovalRequest:1',
        'insertRequestNote:1',
        'lockApprovalRequest:1',
        'lockForClosing:1',
        'lockOpening:1',
        'nextNotice:1',
        'readApprovalRequest:1',
        'readRequestsOfNotice:1',
        'readRequestsOfNotice:2',
        'secondsToNextOpening:1',
        'readRequestStates:1',
        'readAskingRequests:1',
        'takeRequestsToAskAgain:1',
      ].map((place) => `src/store/tables/approval-requests.ts:${place}`),
      'src/store/tables/approver-groups.ts:readApproverGroups:1',
      'src/store/tables/approvals.ts:findCounterMisfit:1',
      'src/store/tables/approvals.ts:insertApproval:1',
      'src/store/tables/approvals.ts:listApprovals:1',
      'src/store/tables/approvals.ts:readApproval:1',
      'src/store/tables/business-transactions.ts:readTransaction:1',
      'src/store/tables/released-batches.ts:checkReleasable:1',
      'src/store/tables/released-batches.ts:checkReleasable:2',
      'src/store/tables/released-batches.ts:findInDoubt:1',
      'src/store/tables/released-batches.ts:findOpen:1',
      'src/store/tables/released-batches.ts:lockFree:1',
      'src/store/postgres/transaction.ts:inSnapshot:1',
    ],
}
