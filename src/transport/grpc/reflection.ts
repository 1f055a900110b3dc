import { join } from 'node:path';
import type { Server } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { protoPath as healthProto } from 'grpc-health-check';
import { projectRoot } from '../../paths.js';

/** Server reflection: tools can list and call the service without its .proto. Open to everybody, as /docs is. */
export function addReflection(server: Server): void {
  // Without keepCase the library describes every field by a name that the .proto does not have.
  const options = { keepCase: true };
  const includeDirs = [join(projectRoot, 'proto')];
  const contract = loadSync('interstice/v1/collision.proto', { ...options, includeDirs });
  new ReflectionService({ ...contract, ...loadSync(healthProto, options) }).addToServer(server);
}
