import { status } from '@grpc/grpc-js';
import { IntersticeError } from '../../contract/errors.js';

/** How the library ends a call by itself. */
export interface LibraryStatus {
  readonly code?: number | null;
  readonly details?: string | null;
}

/**
 * The refusal behind a status that the library made: it knows size, compression and time limits, but not our codes.
 * Its texts decide only between a broken request and a fault of ours where its code is INTERNAL for both.
 */
export function refusalOfLibrary({ code, details }: LibraryStatus, maxMessageBytes: number): IntersticeError {
  const text = details ?? '';
  switch (code) {
    case status.RESOURCE_EXHAUSTED:
      return new IntersticeError('TOO_LARGE', `A message may have ${maxMessageBytes} bytes. ${text}.`, {
        hint: 'Send less, or raise INTERSTICE_MAX_MESSAGE_BYTES. The limit holds after decompression too.',
      });
    case status.DEADLINE_EXCEEDED:
      return deadlineExceeded();
    case status.UNIMPLEMENTED:
      // The code that gRPC demands for an encoding that the server does not have; otherwise a count of messages.
      return /encoding/.test(text)
        ? new IntersticeError('UNIMPLEMENTED', `${text}.`, { hint: 'Send messages uncompressed, or as gzip.' })
        : new IntersticeError('MALFORMED_BODY', `${text}.`, { hint: 'This method takes exactly one message.' });
    default:
      return /decompress|grpc-timeout/.test(text)
        ? new IntersticeError('MALFORMED_BODY', `${text}.`, { hint: 'Use a gRPC library to make the call.' })
        : new IntersticeError('INTERNAL', text || 'The call failed.', { cause: code });
  }
}

export function deadlineExceeded(): IntersticeError {
  return new IntersticeError('DEADLINE_EXCEEDED', 'The deadline of the call passed before there was an answer.', {
    hint: 'Allow more time, or set a time_budget below the deadline with RETURN_SAFE.',
  });
}
