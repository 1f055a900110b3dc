/** docker-compose.yml as services, and a service as arguments of `podman run`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from './program.mjs';

const each = (flag) => (values) => values.flatMap((value) => [flag, value]);
const where = (flag) => (isSet) => (isSet ? [flag] : []);

/** What the keys of a service become. */
const FLAGS = {
  init: where('--init'),
  read_only: where('--read-only'),
  tmpfs: each('--tmpfs'),
  cap_drop: each('--cap-drop'),
  security_opt: each('--security-opt'),
  stop_grace_period: (time) => ['--stop-timeout', String(Number.parseInt(time, 10))],
  restart: (policy) => ['--restart', policy],
  networks: (networks) => each('--network-alias')(networks.default.aliases),
  environment: (values) => each('--env')(Object.entries(values).map(([name, value]) => `${name}=${value}`)),
  volumes: (mounts) => each('--volume')(mounts.map((mount) => mount.replace(/^\.\//, `${root}/`))),
  ports: each('--publish'),
  healthcheck: ({ test: [, ...words], interval, timeout, retries }) => [
    ...['--health-cmd', JSON.stringify(words), '--health-interval', interval],
    ...['--health-timeout', timeout, '--health-retries', String(retries)],
  ],
};
/** What whoever starts the services takes care of. */
const OTHERS = ['build', 'image', 'command', 'depends_on'];

/** @param settings what the file takes from the environment, by name; others have the defaults of the file */
export function readCompose(settings) {
  const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  const settled = text.replace(/\$\{(\w+):-([^}]*)\}/g, (_, name, otherwise) => settings[name] || otherwise);
  return parse(settled, { merge: true });
}

/** @throws Error for a key that has no flag: nothing of the file is left out unseen */
export function engineArguments({ image, command = [], ...service }) {
  const flags = Object.entries(service).flatMap(([key, value]) => {
    if (OTHERS.includes(key)) return [];
    if (!(key in FLAGS))
      throw new Error(`docker-compose.yml: the key ${key} has no flag of podman in deploy/compose-file.mjs.`);
    return FLAGS[key](value);
  });
  return [...flags, image, ...command];
}

/** @returns what a service waits for: [service, condition] */
export const waitsOf = ({ depends_on: waits = [] }) =>
  Array.isArray(waits)
    ? waits.map((name) => [name, 'service_started'])
    : Object.entries(waits).map(([name, { condition }]) => [name, condition]);
