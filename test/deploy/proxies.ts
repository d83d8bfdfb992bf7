// nginx and HAProxy as Debian packages them, in front of a service, each in a folder of its own.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { freePort } from '../../src/cli/free-port.ts'
import { cleanUpAfterEachFile } from '../run/cleanup.ts'
import { until } from '../service.ts'
import { outputOf } from '../start-main.ts'
import { ROOT } from './dockerfile.ts'

const SBIN = { nginx: '/usr/sbin/nginx', haproxy: '/usr/sbin/haproxy' }
export type Program = keyof typeof SBIN
export const isInstalled = (program: Program): boolean => spawnSync(SBIN[program], ['-v']).status === 0

const running = new Set<() => void>()
cleanUpAfterEachFile(() => {
  for (const stop of running) stop()
})

export interface Proxy {
  readonly port: number
  /** Everything that it wrote so far. */
  readonly output: () => string
  readonly folder: string
  stop(): Promise<void>
}

/** @param configure makes the configuration for a port and a folder */
async function start(
  program: Program,
  configure: (port: number, folder: string) => string,
  args: (file: string, folder: string) => readonly string[],
): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-proxy-'))
  const port = await freePort()
  const file = join(folder, `${program}.conf`)
  writeFileSync(file, configure(port, folder))
  const child = spawn(SBIN[program], args(file, folder), { stdio: ['ignore', 'pipe', 'pipe'] })
  const output = outputOf(child)
  const ended = once(child, 'exit')
  const kill = () => void child.kill('SIGTERM')
  running.add(kill)
  const isListening = async () => {
    if (child.exitCode !== null) throw new Error(output())
    const socket = connect(port, '127.0.0.1')
    const connected = once(socket, 'connect').then(
      () => true,
      () => false,
    )
    return connected.finally(() => socket.destroy())
  }
  await until(isListening, `${program} to listen`)
  return {
    port,
    output,
    folder,
    async stop() {
      running.delete(kill)
      kill()
      await ended
      rmSync(folder, { recursive: true })
    },
  }
}

/** @param server what stands inside `http` */
export function startNginx(server: (port: number) => string): Promise<Proxy> {
  return start(
    'nginx',
    (port, folder) => {
      mkdirSync(join(folder, 'tmp'))
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${folder}/tmp/${name};`)
        .join('\n')
      return `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr warn;
events {}
http {
access_log off;
${temporary}
${server(port)}
}
`
    },
    (file, folder) => ['-p', folder, '-c', file, '-e', 'stderr'],
  )
}

export function startHaproxy(configuration: (port: number, folder: string) => string): Promise<Proxy> {
  return start('haproxy', configuration, (file) => ['-db', '-f', file])
}

/** The file of `deploy` for this machine: without TLS, on another port, in front of this service. */
function hereOf(file: string, [listen, plain]: readonly [RegExp, string], target: number): string {
  const text = readFileSync(join(ROOT, 'deploy', file), 'utf8')
  const here = text
    .replace(listen, plain)
    .replaceAll(/^ *ssl_certificate.*$/gm, '')
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${target}`)
  if (here.includes('443') || here.includes(':3000')) throw new Error(`${file} is not as expected`)
  return here
}

export const recommendedNginx = (target: number) => (port: number) =>
  hereOf('nginx.conf', [/listen 443 ssl;/, `listen 127.0.0.1:${port};`], target)

export const recommendedHaproxy = (target: number) => (port: number, folder: string) =>
  `global\n    stats socket ${folder}/stats\n` +
  hereOf('haproxy.cfg', [/bind :443 ssl .*/, `bind 127.0.0.1:${port}`], target)

/** `UP` or `DOWN`, and the check's outcome, of each server. */
export async function haproxyServers({ folder }: Proxy): Promise<string[]> {
  const socket = connect(join(folder, 'stats'))
  socket.end('show stat -1 4 -1\n')
  const rows = (await buffer(socket)).toString().trim().split('\n')
  const names = (rows[0] ?? '').replace('# ', '').split(',')
  return rows.slice(1).map((row) => {
    const values = row.split(',')
    return `${values[names.indexOf('status')]} ${values[names.indexOf('check_status')]} ${values[names.indexOf('check_code')]}`
  })
}

export interface Told {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

interface Ask {
  readonly method?: string
  readonly headers?: Record<string, string>
  /** Sent with its length; several pieces are sent in chunks. */
  readonly body?: string | readonly string[]
  readonly from?: string
}

/** One request through a proxy, over a connection of its own. */
export async function ask(
  port: number,
  path: string,
  { method, headers, body, from }: Ask = {},
): Promise<Told> {
  const sent = request({
    host: '127.0.0.1',
    port,
    path,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    agent: false,
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(typeof body === 'string' ? { 'Content-Length': String(Buffer.byteLength(body)) } : {}),
      ...headers,
    },
    ...(from === undefined ? {} : { localAddress: from }),
  })
  for (const piece of typeof body === 'string' ? [body] : (body ?? [])) sent.write(piece)
  sent.end()
  const [reply] = await once(sent, 'response')
  return { status: reply.statusCode, headers: reply.headers, text: (await buffer(reply)).toString() }
}

/** Passes a request on, and cuts its client's connection when the reply begins: what was asked for has been done. */
export async function startCutter(
  target: number,
): Promise<{ port: number; cuts: () => number; close: () => void }> {
  let cuts = 0
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    client.pipe(upstream)
    upstream.once('data', () => {
      cuts++
      client.destroy()
      upstream.destroy()
    })
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
    client.on('close', () => upstream.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, cuts: () => cuts, close: () => void server.close() }
}
