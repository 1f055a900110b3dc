import { fromUntangled, toUntangleRequest } from '../messages/untangle.js';
import { refuseOnBudgetHeader, withBudgetHeaders } from './budget-headers.js';
import {
  bodyType,
  chooseType,
  isStreamType,
  MESSAGE_TYPES,
  ownTypeFirst,
  refuseQuery,
  STREAM_TYPES,
} from './media-types.js';
import { readMessage, sendUntangled } from './message-body.js';
import type { RouteParts } from './operation-route.js';

/** An untangling, answered with a message or with a stream of them. */
export const untangleRoute: RouteParts<'untangle'> = {
  checkHead: (request) => {
    refuseQuery(request);
    refuseOnBudgetHeader(request);
    chooseType(request, [...ownTypeFirst(bodyType(request, MESSAGE_TYPES), MESSAGE_TYPES), ...STREAM_TYPES]);
  },
  read: (request) => {
    const { message, arrays } = readMessage(request);
    const own = bodyType(request, MESSAGE_TYPES);
    const type = chooseType(request, [...ownTypeFirst(own, MESSAGE_TYPES), ...STREAM_TYPES]);
    const input = withBudgetHeaders(request, toUntangleRequest(message));
    return isStreamType(type)
      ? {
          input,
          streamed: { type, last: (stream, answer) => stream.lastUntangled(fromUntangled(answer), arrays) },
        }
      : {
          input,
          respond: (reply, answer) => sendUntangled(reply, fromUntangled(answer), { type, arrays }),
        };
  },
};
