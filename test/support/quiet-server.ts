import { pino } from 'pino';

/** Settings of a server that listens on free ports and logs nothing. */
export const FREE_PORTS = {
  INTERSTICE_HTTP_PORT: '0',
  INTERSTICE_GRPC_PORT: '0',
  INTERSTICE_ADMIN_PORT: '0',
  INTERSTICE_LOG_LEVEL: 'silent',
};

/** Options of startServer in a process that is a test. */
export const QUIETLY = { log: pino({ level: 'silent' }), handleSignals: false };
