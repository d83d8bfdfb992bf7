// Finds the transaction of an authorizationId: its first 48 bits are those of the businessTransactionId, so the primary key's own index
// finds it. A provider may know an execution by either id; an index of authorizationIds would cost every execution (docs/design-notes.md).

/** `xxxxxxxx-xxxx`. */
const SHARED = 13
const REST = { least: '-0000-0000-000000000000', greatest: '-ffff-ffff-ffffffffffff' }

/**
 * @param newId a new UUID: 74 of its bits are kept, and the nonce next to the authorizationId cannot be guessed
 * @returns a new authorizationId
 */
export function newAuthorizationId(businessTransactionId: string, newId: string): string {
  return businessTransactionId.slice(0, SHARED) + newId.slice(SHARED)
}

/** The range that contains the businessTransactionId of an authorizationId. @param id in lower case */
export function transactionsOf(id: string): { readonly least: string; readonly greatest: string } {
  const shared = id.slice(0, SHARED)
  return { least: shared + REST.least, greatest: shared + REST.greatest }
}
