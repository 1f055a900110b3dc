import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config, TlsFiles } from '../config/config.js';
import { IntersticeError } from '../contract/errors.js';
import type { MeasuredOperations } from '../contract/events.js';
import type { Metrics } from '../observe/metrics.js';
import { buildAdminApp } from '../transport/admin/app.js';
import { freeCapacity, openCapacity } from '../transport/admin/capacity.js';
import type { TlsOptions } from '../transport/grpc/options.js';
import { buildGrpcServer } from '../transport/grpc/server.js';
import { buildHttpApp } from '../transport/http/app.js';
import type { HttpOptions } from '../transport/http/options.js';
import type { ServiceState } from '../transport/service-state.js';
import { adminGuard } from './browser-guards.js';
import type { Reloadable } from './signals.js';

/** A port on which the service listens. */
export interface Door {
  readonly name: 'http' | 'grpc' | 'admin' | 'capacity';
  readonly address: string;
  /** the files of this door that can be reloaded while it is open */
  readonly files?: Reloadable;
  /** Refuses new connections, and ends those that are still open after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** @throws INVALID_PARAMETER if a setting does not work, for every function that opens a door */
export async function openHttp(config: Config, options: HttpOptions): Promise<Door> {
  const app = await buildHttpApp(options);
  const address = await listen(app, config.host, config.httpPort, ['INTERSTICE_HOST', 'INTERSTICE_HTTP_PORT']);
  return {
    name: 'http',
    address,
    close: async (graceMs) => {
      const timer = setTimeout(() => app.server.closeAllConnections(), graceMs);
      await app.close().finally(() => clearTimeout(timer));
    },
  };
}

/** @returns undefined if the settings disable gRPC */
export async function openGrpc(
  config: Config,
  { authenticate, ...options }: HttpOptions,
  metrics: Metrics,
): Promise<Door | undefined> {
  if (config.grpcPort === 'off') return undefined;
  const { grpcTls } = config;
  const server = buildGrpcServer({
    ...options,
    ...(authenticate ? { authenticate } : {}),
    keepaliveMs: 1000 * config.grpcKeepaliveSeconds,
    ...(grpcTls ? { tls: readTlsFiles(grpcTls), onTlsRefused: metrics.countTlsRefusal } : {}),
  });
  const port = await server.listen(config.host, config.grpcPort);
  const { renewTls } = server;
  return {
    name: 'grpc',
    address: join(config.host, port),
    ...(grpcTls && renewTls
      ? { files: { name: 'TLS files', reload: () => ({ certificate: renewTls(readTlsFiles(grpcTls)) }) } }
      : {}),
    close: (graceMs) => server.close(graceMs),
  };
}

/** @returns undefined if the settings disable the admin port */
export async function openAdmin(
  config: Config,
  metrics: Metrics,
  state: ServiceState,
  onServerError: (error: Error) => void = () => {},
): Promise<Door | undefined> {
  if (config.adminPort === 'off') return undefined;
  const app = await buildAdminApp({ metrics, state, settings: config.settings, guard: adminGuard(config) });
  app.server.on('error', onServerError);
  const address = await listen(app, config.adminHost, config.adminPort, [
    'INTERSTICE_ADMIN_HOST',
    'INTERSTICE_ADMIN_PORT',
  ]);
  return { name: 'admin', address, close: () => app.close() };
}

/** @returns undefined if the settings disable it */
export async function openCapacityDoor(config: Config, operations: MeasuredOperations): Promise<Door | undefined> {
  const { adminHost: host, capacityPort, threads } = config;
  if (capacityPort === 'off') return undefined;
  const read = () => freeCapacity(operations.stats(), threads);
  const { port, close } = await openCapacity(host, capacityPort, read).catch((cause: unknown) => {
    throw unusable(host, capacityPort, ['INTERSTICE_ADMIN_HOST', 'INTERSTICE_CAPACITY_PORT'], cause);
  });
  return { name: 'capacity', address: join(host, port), close };
}

/** Names of the settings of an address. */
type AddressSettings = readonly [host: string, port: string];

/** What a system says of a host that it does not have. */
const UNKNOWN_HOST = new Set(['ENOTFOUND', 'EADDRNOTAVAIL', 'EAI_AGAIN']);

function unusable(host: string, port: number, settings: AddressSettings, cause: unknown): IntersticeError {
  const [hostSetting, portSetting] = settings;
  const { code = '' } = cause as NodeJS.ErrnoException;
  return new IntersticeError('INVALID_PARAMETER', `Cannot listen on ${host}:${port} (${(cause as Error).message}).`, {
    cause,
    hint: UNKNOWN_HOST.has(code)
      ? `${hostSetting} must be an address or a name of this machine.`
      : code === 'EACCES'
        ? `Choose another ${portSetting}, or allow the service to listen there.`
        : `Choose another ${portSetting}, or stop the program that listens there.`,
  });
}

async function listen(app: FastifyInstance, host: string, port: number, settings: AddressSettings): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    throw unusable(host, port, settings, cause);
  }
  const bound = app.server.address() as AddressInfo;
  return `http://${join(bound.address, bound.port)}`;
}

const join = (host: string, port: number): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

/** @throws INVALID_PARAMETER that names the file */
function readTlsFiles({ cert, key, clientCa }: TlsFiles): TlsOptions {
  const files = { cert: readTlsFile(cert), key: readTlsFile(key) };
  return clientCa === undefined ? files : { ...files, ca: readTlsFile(clientCa), requireClientCert: true };
}

function readTlsFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The TLS file ${path} cannot be read (${(cause as NodeJS.ErrnoException).code ?? cause}).`,
      { cause, hint: 'Correct INTERSTICE_GRPC_TLS_CERT, _KEY or _CLIENT_CA.' },
    );
  }
}
