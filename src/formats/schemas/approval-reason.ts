// For the schema of approvals, for verifiers and for forms. It brings no schema into a page.

/** The longest reason of an approval, in characters (code points). */
export const REASON_MAX = 500
