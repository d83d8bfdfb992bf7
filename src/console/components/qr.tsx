// A QR code of a text that another device is to read: dark on light in every colour scheme, because readers expect that.
import { encodeQR } from 'qr'
import { utf8ToBytes } from '@noble/hashes/utils.js'

/** The bytes that the largest code holds with the least error correction (ISO/IEC 18004, version 40-L). */
const BYTES_MAX = 2_953
/** A whole number, because otherwise some modules are drawn wider than others: every fifth code of 125 modules could not be read. */
const MODULE_PIXELS = 4
/** Light modules that the standard asks for on each side. */
const QUIET_ZONE = 4

export function Qr({ text, label }: { readonly text: string; readonly label: string }) {
  const bytes = utf8ToBytes(text).length
  if (bytes > BYTES_MAX)
    return (
      <p class="quiet">
        It has {bytes} bytes, and a QR code holds {BYTES_MAX}. Use the file.
      </p>
    )
  const rows = encodeQR(text, 'raw', { ecc: 'low', border: QUIET_ZONE })
  const path = rows.flatMap((row, y) =>
    row.map((isDark, x) => (isDark && row[x - 1] !== true ? `M${x} ${y}h${darkFrom(row, x)}v1H${x}z` : '')),
  )
  return (
    <svg
      class="qr"
      width={rows.length * MODULE_PIXELS}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      role="img"
      aria-label={label}
    >
      <rect width={rows.length} height={rows.length} fill="#fff" />
      <path d={path.join('')} fill="#000" shape-rendering="crispEdges" />
    </svg>
  )
}

/** How many modules from here on are dark. */
function darkFrom(row: readonly boolean[], x: number): number {
  const end = row.indexOf(false, x)
  return (end === -1 ? row.length : end) - x
}
