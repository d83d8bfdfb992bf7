// Makes the offline signer that the service hands out at GET /signer (docs/handbook/approving.md "Sign with the network off"): one file that
// a person saves. Run by `npm run pages`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildOneFilePage } from '../one-file-page.ts'

const ROOT = join(import.meta.dirname, '..', '..')
export const SIGNER_FILE = join(ROOT, 'src', 'server', 'pages', 'signer.html')

/** The same sources give the same bytes: a test compares them with the committed file. */
export function buildSigner(): Promise<string> {
  return buildOneFilePage({
    page: readFileSync(join(import.meta.dirname, 'page.html'), 'utf8'),
    style: ['src/server/pages/colors.css', 'src/console/console.css', 'tools/signer-page/style.css']
      .map((path) => readFileSync(join(ROOT, path), 'utf8'))
      .join(''),
    entry: 'tools/signer-page/page.tsx',
  })
}

if (import.meta.main) writeFileSync(SIGNER_FILE, await buildSigner())
