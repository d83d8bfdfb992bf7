// A POLICY_DIR of a test's own, for what no shipped policy does.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanUpAfterEachFile } from './run/cleanup.ts'

const SHIPPED = join(import.meta.dirname, '..', 'policies')

const folders = new Set<string>()
cleanUpAfterEachFile(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  folders.clear()
})

/** A folder with shipped policies, by default sandbox-echo alone, for `addPolicy` to add to; it goes with the test file. */
export function aPolicyFolder(shipped: readonly string[] = ['sandbox-echo']): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-policies-'))
  folders.add(folder)
  for (const name of shipped) cpSync(join(SHIPPED, name), join(folder, name), { recursive: true })
  return folder
}

/**
 * Adds a policy that approves `capability` when the signal `approved` is true.
 * @param options.more further members of the document
 */
export function addPolicy(
  folder: string,
  {
    name,
    version,
    capability,
    ...more
  }: { name: string; version: string; capability: string; [member: string]: unknown },
): void {
  mkdirSync(join(folder, name, version), { recursive: true })
  const document = {
    policyId: name,
    policyVersion: version,
    schemaVersion: '1.0.0',
    description: 'Made by a test.',
    capabilities: [capability],
    signals: { approved: 'boolean' },
    rules: [
      { id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved by the test.' },
    ],
    ...more,
  }
  // JSON is YAML.
  writeFileSync(join(folder, name, version, 'policy.yaml'), JSON.stringify(document))
}
