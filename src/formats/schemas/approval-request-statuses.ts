// How an approval request can stand. The service's schema and every verifier read this list; the Python client writes it again.
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
