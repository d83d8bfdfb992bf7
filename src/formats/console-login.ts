// The payload that a passkey signs on the login page, as the artifact `console-login`, which nothing else is: a login is no approval, and no
// approval a login. The service makes only its challenge; the other bytes are made here, so that it can have nothing else signed. Browser-safe.

/** Payload for a login. @param origin origin of the console */
export function loginPayload({
  challenge,
  origin,
}: {
  readonly challenge: string
  readonly origin: string
}): { readonly version: 1; readonly act: 'log-in'; readonly challenge: string; readonly origin: string } {
  return { version: 1, act: 'log-in', challenge, origin }
}

/** Payload for a registration: proves that the passkey exists and has this name. @param spki Base64 */
export function registrationPayload({
  challenge,
  origin,
  callerId,
  name,
  spki,
}: {
  readonly challenge: string
  readonly origin: string
  readonly callerId: string
  readonly name: string
  readonly spki: string
}) {
  return { version: 1, act: 'register', challenge, origin, callerId, name, spki } as const
}
