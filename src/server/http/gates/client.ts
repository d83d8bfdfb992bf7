// The name of a client, by which queues, shares and budgets are divided: a callerId, or the address of a request without a key.

/** The client of every request where authentication is disabled. */
export const ANONYMOUS = 'anonymous'

/** Unlike this name, no callerId has a space. */
export function addressClient(address: string): string {
  return `address ${address}`
}

/** Whether a client has no key. */
export function isAddress(client: string): boolean {
  return client.startsWith('address ')
}
