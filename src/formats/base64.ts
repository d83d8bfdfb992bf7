// Base64 and base64url with exactly one text for each value, without Buffer (RFC 4648 §4, §5): a signature with a second
// spelling could be changed and still pass (decisions §4 "Signature").

/** Undefined for anything but the canonical text, padding included. */
export function base64(text: string): Uint8Array | undefined {
  let binary: string
  try {
    binary = atob(text)
  } catch {
    return undefined
  }
  // atob also accepts white space, missing padding and unused bits; the comparison refuses all but the canonical text.
  if (btoa(binary) !== text) return undefined
  const bytes = new Uint8Array(binary.length)
  // A callback for each character takes ten times as long.
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}

/** As `base64`, for the text of a JWK: two other characters and no padding (RFC 7515 §2). */
export function base64url(text: string): Uint8Array | undefined {
  if (!/^[\w-]*$/.test(text)) return undefined
  const padding = '='.repeat((4 - (text.length % 4)) % 4)
  return base64(text.replaceAll('-', '+').replaceAll('_', '/') + padding)
}

/** The padded text of RFC 4648 §4. */
export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}
