/** Bytes in lowercase hex. Browser-safe, where `Buffer` is not. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
