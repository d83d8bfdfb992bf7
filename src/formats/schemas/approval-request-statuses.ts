// The states of an approval request. The service's schema and every verifier read this list; the Python client has a copy.
export const approvalRequestStatuses = [
  'PENDING',
  'APPROVED',
  'DECLINED',
  'EXPIRED',
  'ENDED',
  'USED',
  'WITHDRAWN',
] as const
export type ApprovalRequestStatus = (typeof approvalRequestStatuses)[number]
