/**
 * Resolves an example pair over HTTP and over gRPC, on the service at the default ports of this machine, and compares
 * the answers: one contract, two transports. Runs inside a container of the image, where only the content of the image
 * can be used.
 *
 *     node use-service.mjs [ENGINE] ENGINE: the engine that the reports must name
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const root = process.cwd();
const packages = createRequire(join(root, 'package.json'));
const grpc = packages('@grpc/grpc-js');
const { loadSync } = packages('@grpc/proto-loader');
const [engine] = process.argv.slice(2);

const pair = (name) => readFileSync(join(root, 'examples', 'pairs', 'layers', name), 'utf8');
const numbers = (obj, letter) =>
  obj
    .split('\n')
    .filter((line) => line.startsWith(`${letter} `))
    .flatMap((line) => line.split(' ').slice(1).map(Number));
const positions = (obj) => Buffer.from(Float32Array.from(numbers(obj, 'v')).buffer);
const [start, target] = [pair('start.obj'), pair('target.obj')].map(positions);
const triangles = Uint32Array.from(numbers(pair('start.obj'), 'f').map((index) => index - 1));

const fail = (what) => {
  process.stderr.write(`${what}\n`);
  process.exit(1);
};

const request = {
  mesh: { vertexCount: start.length / 12, triangles: Buffer.from(triangles.buffer) },
  start: { data: start, scalar: 'FLOAT32' },
  target: { data: target, scalar: 'FLOAT32' },
};
const asJson = (value) =>
  JSON.stringify(value, function (name, each) {
    return Buffer.isBuffer(this[name]) ? this[name].toString('base64') : each;
  });

const answer = await fetch('http://127.0.0.1:8080/v1/resolve', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: asJson(request),
});
const body = await answer.json();
if (answer.status !== 200) fail(`HTTP ${answer.status}: ${JSON.stringify(body).slice(0, 500)}`);

const definition = loadSync('interstice/v1/collision.proto', {
  includeDirs: [join(root, 'proto')],
  enums: String,
  defaults: true,
});
const { CollisionService } = grpc.loadPackageDefinition(definition).interstice.v1;
const client = new CollisionService('127.0.0.1:50051', grpc.credentials.createInsecure());
const reply = await new Promise((resolve) => {
  client.Resolve(request, (error, message) => resolve(error ? fail(`gRPC: ${error.message}`) : message));
});
client.close();

const { report } = reply;
if (report.status !== 'CONVERGED') fail(`gRPC: ${report.status}`);
if (engine !== undefined && !report.engine.startsWith(engine)) fail(`the engine is ${report.engine}`);
if (!reply.positions.data.equals(Buffer.from(body.positions.data, 'base64'))) fail('the answers of the doors differ');
