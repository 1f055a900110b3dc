import type { Server } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import type { Phase, ServiceState } from '../http/state.js';
import { SERVICE } from './service.js';

/** "" stands for the whole server. */
const NAMES = ['', SERVICE];

/**
 * grpc.health.v1: serving exactly while the HTTP door's /readyz says so.
 * @returns stops following the state
 */
export function addHealth(server: Server, state: ServiceState): () => void {
  const health = new HealthImplementation();
  const follow = (phase: Phase) => {
    for (const name of NAMES) health.setStatus(name, phase === 'ready' ? 'SERVING' : 'NOT_SERVING');
  };
  follow(state.phase);
  health.addToServer(server);
  return state.watch(follow);
}
