import { ERRORS, IntersticeError } from '../contract/errors.js';
import { encodeJson, type JsonObject } from '../transport/json/encode.js';
import { fromError } from '../transport/messages/answers.js';

/** The service's problem document (RFC 9457) as a script would get it over HTTP, so that it reads one shape from both. */
export function toProblem(thrown: unknown): JsonObject {
  const error = IntersticeError.from(thrown);
  const words = error.code.toLowerCase().replaceAll('_', ' ');
  return {
    type: `urn:interstice:error:${error.code}`,
    title: words.charAt(0).toUpperCase() + words.slice(1),
    status: ERRORS[error.code].http,
    detail: error.message,
    ...encodeJson('Error', fromError(error, ''), { arrays: false }),
    // A service hides what an unforeseen failure said from strangers; here it is the caller's own machine.
    message: error.message,
  };
}
