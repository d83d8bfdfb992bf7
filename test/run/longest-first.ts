// The order in which test files start: the longest first, so that none of them runs alone at the end. No file depends on it.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Those that take a quarter of a minute or more, of CPU time or of waiting; by what a run of all of them printed. */
const LONGEST = [
  'test/bench.test.ts',
  'test/browser/documents.test.ts',
  'test/log/crash.test.ts',
  'test/crash/points.test.ts',
  'test/console/passkeys.test.ts',
  'test/clients/resume.test.ts',
  'test/citus/drill.test.ts',
  'test/drills/restore.test.ts',
  'test/faults/database-failover.test.ts',
  'test/clients/python.test.ts',
  'test/abuse/open-routes.test.ts',
  'test/bench/deployment.test.ts',
  'test/drills/rotation.test.ts',
  'test/metrics/metrics.test.ts',
  'test/notifications/notifications.test.ts',
  'test/http/confirmations.test.ts',
  'test/lifecycle.test.ts',
  'test/console/pages.test.ts',
  'test/faults/instances-partitioned.test.ts',
  'test/abuse/neighbours.test.ts',
  'test/log/audit.test.ts',
  'test/crash/pending-evidence.test.ts',
  'test/faults/clocks.test.ts',
  'test/crash/in-doubt.test.ts',
  'test/fsck/healthy.test.ts',
  'test/faults/database-timeouts.test.ts',
  'test/http/events.test.ts',
  'test/fsck/tampering.test.ts',
  'test/setup-humans.test.ts',
  'test/signals.test.ts',
  'test/console/deciding.test.ts',
  'test/http/event-endpoints.test.ts',
  'test/http/execution-intents.test.ts',
  'test/http/handbook-authority.test.ts',
  'test/http/caller-keys.test.ts',
  'test/clients/typescript.test.ts',
  'test/vectors.test.ts',
  'test/log/witness.test.ts',
  'test/log/ids.test.ts',
  'test/faults/instances-rolling.test.ts',
  'test/crash/events.test.ts',
  'test/faults/instances-dead-connections.test.ts',
  'test/log/service.test.ts',
  'test/log/backfill.test.ts',
  'test/crash/service.test.ts',
  'test/http/shared-limits.test.ts',
  'test/embedded/postgres.test.ts',
  'test/crash/audit.test.ts',
  'test/webhooks-command.test.ts',
  'test/http/audit.test.ts',
  'test/demo.test.ts',
  'test/browser/verifier.test.ts',
  'test/deploy/image.test.ts',
  'test/faults/instances-killed.test.ts',
  'test/start.test.ts',
  'test/docs.test.ts',
  'test/http/webhooks.test.ts',
  'test/verifier/command.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the base class's method, which is no array's
    const bySize = await super.sort(files)
    return bySize.toSorted((a, b) => place(a) - place(b))
  }
}

function place({ moduleId }: TestSpecification): number {
  const found = LONGEST.findIndex((file) => moduleId.endsWith(file))
  return found === -1 ? LONGEST.length : found
}
