// What a passkey of the login page signs, as the artifact `console-login`, which nothing else is: a login is no approval, and no approval a
// login. The challenge in it is the service's; the bytes around it are made here, so that no service has anything else signed. Browser-safe.

/** To log in. @param origin of the console */
export function loginPayload({
  challenge,
  origin,
}: {
  readonly challenge: string
  readonly origin: string
}): { readonly version: 1; readonly act: 'log-in'; readonly challenge: string; readonly origin: string } {
  return { version: 1, act: 'log-in', challenge, origin }
}

/** To prove, when it is registered, that the passkey is there and is of this name. @param spki Base64 */
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
