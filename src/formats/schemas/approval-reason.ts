// Shared by the schema of approvals, verifiers and forms. This module brings no schema into a page.

/** The longest reason of an approval, in characters (code points). */
export const REASON_MAX = 500
