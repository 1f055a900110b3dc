import type { FastifyReply, FastifyRequest } from 'fastify';
import type { MeshCheckRequest } from '../../contract/requests.js';
import { fromOptions } from '../json/options.js';
import { withSet } from '../messages/fields.js';
import { toCheckRequest } from '../messages/requests.js';
import { serverTiming } from './answer-headers.js';
import { refuseOnBudgetHeader, withBudgetHeaders } from './budget-headers.js';
import { type FormLimits, joinMeshes, readForm, withKinematic } from './form.js';
import { bodyType, chooseType, FORM_TYPES, MESSAGE_TYPES, ownTypeFirst, refuseQuery } from './media-types.js';
import { readMessage, sendMessage } from './message-body.js';
import type { RouteParts } from './operation-route.js';

/** Form fields. Those of a resolve are also accepted, so that one command line serves both operations. */
const GROUPS = { mesh: 'mesh', start: 'mesh', pathEnd: 'pathEnd', path_end: 'pathEnd', target: 'pathEnd' } as const;

/** A check, as a message or as a form of mesh files. */
export function checkRoute(limits: FormLimits): RouteParts<'check'> {
  return {
    checkHead: (request) => {
      refuseQuery(request);
      refuseOnBudgetHeader(request);
      chooseType(request, ownTypeFirst(bodyType(request, FORM_TYPES), MESSAGE_TYPES));
    },
    read: async (request, reply) => {
      const own = bodyType(request, FORM_TYPES);
      const asked =
        own === 'multipart/form-data'
          ? await readAsForm(request, reply, limits)
          : toCheckRequest(readMessage(request).message);
      const decoded = performance.now();
      return {
        input: withBudgetHeaders(request, asked),
        respond: (reply, answer, answered) => {
          const { receivedAt } = request;
          const timings = { decode: (decoded - receivedAt) * 1000, total: (answered - receivedAt) * 1000 };
          reply.header('server-timing', serverTiming(timings));
          return sendMessage(reply, 'CheckResponse', answer, chooseType(request, ownTypeFirst(own, MESSAGE_TYPES)));
        },
      };
    },
  };
}

async function readAsForm(request: FastifyRequest, reply: FastifyReply, limits: FormLimits): Promise<MeshCheckRequest> {
  const form = await readForm(request, reply, GROUPS, limits);
  const { start, target, parts } = joinMeshes(form.files.mesh, form.files.pathEnd, {
    start: 'mesh',
    target: 'pathEnd',
    isTargetRequired: false,
  });
  const { kinematic, reportPairsCloserThan, maxPairs, kinematicPairs, timeBudgetSeconds } = fromOptions(
    form.options(),
    {
      vertexCount: start.vertexCount,
      parts,
      operation: 'check',
      path: 'options',
    },
  );
  return withSet<MeshCheckRequest>({
    mesh: withKinematic(start, kinematic),
    positions: start.positions,
    pathEnd: target?.positions,
    reportPairsCloserThan,
    maxPairs,
    kinematicPairs,
    timeBudgetSeconds,
  });
}
