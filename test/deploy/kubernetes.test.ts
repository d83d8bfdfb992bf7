// deploy/kubernetes.yaml, held against the image, the configuration and the routes; its init container's command is run as it stands.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { Environment, readConfig } from '../../src/core/config/config.ts'
import { keyAccess } from '../../src/core/signing/key-access.ts'
import { routes } from '../../src/server/routes/index.ts'
import { createDatabase } from '../database.ts'
import { aFolder } from '../embedded/drive.ts'
import { aCaller, startService } from '../service.ts'
import { readDockerfile, ROOT } from './dockerfile.ts'

interface Container {
  readonly name: string
  readonly image: string
  readonly command?: readonly string[]
  readonly env?: readonly { name: string; value: string }[]
  readonly ports?: readonly { name: string; containerPort: number }[]
  readonly securityContext: object
  readonly volumeMounts: readonly { name: string; mountPath: string; readOnly?: boolean }[]
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } }
  readonly startupProbe: Probe
  readonly livenessProbe: Probe
  readonly readinessProbe: Probe
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}
interface Pod {
  readonly securityContext: { readonly runAsUser: number; readonly fsGroup: number }
  readonly serviceAccountName: string
  readonly automountServiceAccountToken: boolean
  readonly terminationGracePeriodSeconds: number
  readonly initContainers: readonly Container[]
  readonly containers: readonly Container[]
  readonly volumes: readonly { name: string; secret?: { secretName: string; defaultMode: number } }[]
}
interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly automountServiceAccountToken?: boolean
  readonly spec: {
    readonly replicas?: number
    readonly minAvailable?: number
    readonly selector: { readonly matchLabels: object } & Readonly<Record<string, unknown>>
    readonly ports?: readonly { targetPort: string }[]
    readonly template: { readonly metadata: { readonly labels: object }; readonly spec: Pod }
    readonly volumeClaimTemplates?: readonly { metadata: { name: string } }[]
  }
}

const documents = parseAllDocuments(readFileSync(join(ROOT, 'deploy/kubernetes.yaml'), 'utf8'))
const manifests = documents.map((document) => document.toJS() as Manifest)
const ofKind = (kind: string) => manifests.find((one) => one.kind === kind)!
const workload = ofKind('StatefulSet')
const pod = workload.spec.template.spec
const [service] = pod.containers as [Container]
const [copying] = pod.initContainers as [Container]
const env = Object.fromEntries((service.env ?? []).map(({ name, value }) => [name, value]))
const image = readDockerfile().at(-1) ?? []
const imageText = image.map(({ name, rest }) => `${name} ${rest}`).join('\n')

test('is read without a problem, and is the release of package.json', () => {
  expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  for (const { image: name } of [service, copying])
    expect(name).toBe(`registry.example/countersign:${version}`)
})

test('sets variables that the service reads, with values that it takes, and no secret', () => {
  expect(Object.keys(Environment.properties)).toEqual(expect.arrayContaining(Object.keys(env)))
  expect(Object.keys(env).filter((name) => /URL|KEYS|SECRET|TOKEN/.test(name))).toEqual([])
  const given = {
    DATABASE_URL: 'postgres://a:b@database/countersign',
    SERVICE_API_KEYS: JSON.stringify([aCaller('bot').entry]),
  }
  expect(() => readConfig({ ...given, ...env })).not.toThrow()
})

test('names the ports, the user and the folders of the image', () => {
  const ports = Object.fromEntries(
    (service.ports ?? []).map(({ name, containerPort }) => [name, containerPort]),
  )
  expect(imageText).toContain(`EXPOSE ${ports['http']}`)
  expect(imageText).toContain(`PORT=${ports['http']}`)
  expect(String(ports['metrics'])).toBe(env['METRICS_PORT'])
  expect(ofKind('Service').spec.ports?.map(({ targetPort }) => targetPort)).toEqual(['http'])
  expect(imageText).toContain(`useradd --uid ${pod.securityContext.runAsUser} `)
  expect(imageText).toContain('DATA_DIR=/data')
  expect(service.volumeMounts).toContainEqual({ name: 'data', mountPath: '/data' })
  expect(service.volumeMounts).toContainEqual({ name: 'keys', mountPath: '/keys', readOnly: true })
  expect(env['SIGNING_KEY_DIR']).toMatch(/^\/keys\//)
})

test('asks open routes whether it is up and ready', () => {
  for (const [probe, path] of [
    ['startupProbe', '/health'],
    ['livenessProbe', '/health'],
    ['readinessProbe', '/ready'],
  ] as const) {
    expect(service[probe].httpGet).toEqual({ path, port: 'http' })
    expect(routes.find((route) => route.method === 'GET' && route.path === path)).toMatchObject({
      open: true,
    })
  }
})

test('a stop is not cut short', () => {
  const [program, seconds] = service.lifecycle.preStop.exec.command
  expect(program).toBe('sleep')
  const drainMs = readConfig({ SHUTDOWN_TIMEOUT_MS: env['SHUTDOWN_TIMEOUT_MS'] }).shutdownTimeoutMs
  // The webhook jobs and the audit that are waited for besides; a second for the rest.
  const wholeMs = Number(seconds) * 1000 + drainMs + 5_000 + 2_000 + 1_000
  expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(wholeMs)
})

test('two instances run, one of which stays while nodes are emptied', () => {
  const { labels } = workload.spec.template.metadata
  expect([workload.spec.replicas, ofKind('PodDisruptionBudget').spec.minAvailable]).toEqual([2, 1])
  expect(workload.spec.selector.matchLabels).toEqual(labels)
  expect(ofKind('PodDisruptionBudget').spec.selector.matchLabels).toEqual(labels)
  expect(ofKind('Service').spec.selector).toEqual(labels)
})

test('no container can gain a right, write to its image or speak to the cluster', () => {
  expect(pod.securityContext).toMatchObject({
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  })
  expect([pod.automountServiceAccountToken, ofKind('ServiceAccount').automountServiceAccountToken]).toEqual([
    false,
    false,
  ])
  expect(pod.serviceAccountName).toBe(ofKind('ServiceAccount').metadata.name)
  for (const { securityContext } of [service, copying])
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
})

test('every mount has its volume, and secrets are readable by their owner alone', () => {
  const volumes = [
    ...pod.volumes.map(({ name }) => name),
    ...(workload.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name),
  ]
  for (const { volumeMounts } of [service, copying])
    for (const { name } of volumeMounts) expect(volumes).toContain(name)
  const secrets = pod.volumes.flatMap(({ secret }) => secret ?? [])
  expect(secrets).toHaveLength(2)
  for (const { secretName, defaultMode } of secrets) {
    expect(defaultMode).toBe(0o400)
    expect(readFileSync(join(ROOT, 'docs/handbook/operating.md'), 'utf8')).toContain(
      `kubectl create secret generic ${secretName} `,
    )
  }
})

test('the keys that the init container copies are what a service starts with, without a warning', async () => {
  const folder = aFolder()
  const cli = join(ROOT, 'src', 'cli', 'index.ts')
  execFileSync(process.execPath, [cli, 'keys', 'generate', '--dir', join(folder, 'made')], {
    stdio: 'ignore',
  })
  mkdirSync(join(folder, 'secrets'))
  // As a secret with fsGroup is mounted: files of the folder only, in a folder that everybody may write.
  for (const [from, to] of [
    ['made', 'signing-keys'],
    ['made/log', 'log-keys'],
  ] as const)
    execFileSync('sh', [
      '-ec',
      `mkdir -m 1777 '${folder}/secrets/${to}' && find '${folder}/${from}' -maxdepth 1 -type f -exec install -m 0440 {} '${folder}/secrets/${to}' \\;`,
    ])
  mkdirSync(join(folder, 'keys'), { mode: 0o777 })
  const [program = '', flag = '', script = ''] = copying.command ?? []
  execFileSync(program, [
    flag,
    script.replaceAll('/keys/', `${folder}/keys/`).replaceAll('/secrets/', `${folder}/secrets/`),
  ])
  const own = join(folder, 'keys', 'own')
  const names = readdirSync(own).filter((name) => name.endsWith('.pem'))
  expect(names.length).toBeGreaterThan(1)
  expect(statSync(join(own, 'log')).mode & 0o777).toBe(0o700)
  expect(keyAccess(own, names)).toEqual({ writable: [], warnings: [] })

  const database = await createDatabase('template0')
  const caller = aCaller('billing-bot')
  const { METRICS_PORT: _, METRICS_HOST: _1, ...given } = env
  const started = await startService({
    databaseUrl: database.url,
    signingKeyDir: own,
    callers: [caller.entry],
    env: { ...given, SIGNING_KEY_DIR: own },
  })
  expect(await started.get('/ready')).toMatchObject({ status: 200 })
  expect(await started.stop()).toBe(0)
  await database.drop()
})
