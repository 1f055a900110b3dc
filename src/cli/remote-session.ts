import { randomUUID } from 'node:crypto';
import type { Positions } from '../contract/mesh.js';
import type { Report } from '../contract/report.js';
import type { CreateSessionRequest } from '../contract/sessions.js';
import type { BackendSession } from './backend.js';
import { callService, type ServiceAddress } from './remote.js';

/** A session of a running service. Every path has its id, and a header a routing key, for services behind a proxy. */
export async function openRemoteSession(
  service: ServiceAddress,
  request: CreateSessionRequest,
  signal: AbortSignal | undefined,
): Promise<BackendSession> {
  const address = { ...service, headers: { 'x-session-id': randomUUID() } };
  const { id } = (await callService(address, 'createSession', request, { signal })) as { id: string };
  return {
    async step(target, { onProgress, ...options } = {}) {
      const step = { target, ...options };
      const answer = await callService(address, 'step', step, { signal, id, onProgress });
      const { positions, report } = answer as { positions: { data: Positions }; report: Report };
      return { positions: positions.data, report };
    },
    async close() {
      // A session that cannot be deleted ends by its idle timeout; its answers remain valid.
      await callService(address, 'deleteSession', {}, { signal: undefined, id }).catch(() => undefined);
    },
  };
}
