import { join } from 'node:path';
import type { Server } from '@grpc/grpc-js';
import { loadSync, type PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { HealthImplementation, protoPath as healthProto } from 'grpc-health-check';
import { projectRoot } from '../../paths.js';
import type { Phase, ServiceState } from '../service-state.js';
import { SERVICE } from './service.js';

/** "" stands for the whole server. */
const HEALTH_NAMES = ['', SERVICE];

/**
 * Adds grpc.health.v1, which reports SERVING exactly while /readyz of the HTTP server reports readiness.
 * @returns a function that stops following the state
 */
export function addHealth(server: Server, state: ServiceState): () => void {
  const health = new HealthImplementation();
  const follow = (phase: Phase) => {
    for (const name of HEALTH_NAMES) health.setStatus(name, phase === 'ready' ? 'SERVING' : 'NOT_SERVING');
  };
  follow(state.phase);
  health.addToServer(server);
  return state.watch(follow);
}

/** Adds server reflection, so that tools can call the service without its .proto. Like /docs it needs no key. */
export function addReflection(server: Server): void {
  // Without keepCase the library describes fields by names that the .proto does not have.
  const options = { keepCase: true };
  const includeDirs = [join(projectRoot, 'proto')];
  const contract = loadSync('interstice/v1/collision.proto', { ...options, includeDirs });
  new ReflectionService({ ...firstOf(contract), ...firstOf(loadSync(healthProto, options)) }).addToServer(server);
}

/**
 * One type of a load. Each carries the descriptors of all files of its load, and the library decodes those of every type
 * that it is given.
 */
const firstOf = (loaded: PackageDefinition): PackageDefinition =>
  Object.fromEntries(
    Object.entries(loaded)
      .filter(([, definition]) => 'fileDescriptorProtos' in definition)
      .slice(0, 1),
  );
